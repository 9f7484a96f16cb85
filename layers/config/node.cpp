#include "layers/config/node.h"

#include <algorithm>
#include <charconv>

#include "layers/config/text.h"
#include "layers/text/display.h"

namespace heed {

std::string to_text(const ConfigMark& mark) {
  if (!mark.file) {
    return "";
  }
  return text(*mark.file, ":", std::max<int64_t>(1, mark.line), ":",
              std::max<int64_t>(1, mark.column));
}

std::string join_path(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

ConfigNode::ConfigNode(const std::string& value)
    : kind_(Kind::scalar), quoted_(!reads_as_text(value)), text_(value) {}

ConfigNode::ConfigNode(bool value) : kind_(Kind::scalar), text_(value ? "true" : "false") {}

ConfigNode::ConfigNode(double value) : kind_(Kind::scalar) {
  char digits[32];  // the longest shortest double, -2.2250738585072014e-308, has 24 characters
  text_.assign(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

ConfigNode ConfigNode::scalar(const std::string& text, bool quoted) {
  ConfigNode node;
  node.kind_ = Kind::scalar;
  const bool null = !quoted && is_null_text(text);
  node.text_ = null ? "~" : text;
  node.quoted_ = quoted || (!null && !can_stand_plain(text));
  return node;
}

ConfigNode ConfigNode::list(std::vector<ConfigNode> elements) {
  ConfigNode node;
  node.kind_ = Kind::list;
  for (ConfigNode& element : elements) node.append(std::move(element));
  return node;
}

ConfigNode ConfigNode::map(std::initializer_list<std::pair<std::string, ConfigNode>> entries) {
  ConfigNode node;
  node.kind_ = Kind::map;
  for (const auto& [key, value] : entries) node.set(key, value);
  return node;
}

const ConfigNode* ConfigNode::find(const std::string& key) const {
  if (!is_map()) {
    return nullptr;
  }
  const auto child = std::find_if(children_.begin(), children_.end(),
                                  [&](const ConfigNode& node) { return node.key_ == key; });
  return child == children_.end() ? nullptr : &*child;
}

ConfigNode* ConfigNode::find(const std::string& key) {
  return const_cast<ConfigNode*>(std::as_const(*this).find(key));
}

const ConfigNode& ConfigNode::get(const std::string& key) const {
  static const ConfigNode absent;
  const ConfigNode* child = find(key);
  return child ? *child : absent;
}

const ConfigNode& ConfigNode::at(int64_t index) const {
  require<ConfigError>(index >= 0 && index < size(), "ConfigNode: expected an index below ", size(),
                       ", got ", index);
  return children_[static_cast<size_t>(index)];
}

ConfigNode& ConfigNode::at(int64_t index) {
  return const_cast<ConfigNode&>(std::as_const(*this).at(index));
}

ConfigNode& ConfigNode::set(const std::string& key, ConfigNode value, ConfigMark key_mark) {
  require<ConfigError>(is_map() || is_absent() || is_null(), "ConfigNode: cannot set ", key, " of ",
                       in_words(*this));
  kind_ = Kind::map;
  text_.clear();
  ConfigNode* child = find(key);
  if (!child) {
    child = &children_.emplace_back();
  }
  *child = std::move(value);
  child->key_ = key;
  child->key_mark_ = key_mark.file ? key_mark : mark_;
  child->inherit_mark(child->key_mark_);
  child->set_path(join_path(path_, key));
  return *child;
}

ConfigNode& ConfigNode::append(ConfigNode element) {
  require<ConfigError>(is_list() || is_absent(), "ConfigNode: cannot append to ", in_words(*this));
  kind_ = Kind::list;
  ConfigNode& child = children_.emplace_back(std::move(element));
  child.key_.clear();
  child.key_mark_ = child.key_mark_.file ? child.key_mark_ : mark_;
  child.inherit_mark(mark_);
  child.set_path(join_path(path_, std::to_string(size() - 1)));
  return child;
}

void ConfigNode::assign(ConfigNode value) {
  value.key_ = key_;
  value.key_mark_ = key_mark_;
  value.inherit_mark(mark_);
  value.set_path(path_);
  *this = std::move(value);
}

bool ConfigNode::erase(const std::string& key) {
  return std::erase_if(children_,
                       [&](const ConfigNode& node) { return is_map() && node.key_ == key; }) > 0;
}

void ConfigNode::inherit_mark(const ConfigMark& mark) {
  if (mark_.file) {
    return;
  }
  mark_ = mark;
  for (ConfigNode& child : children_) {
    if (!child.key_mark_.file) {
      child.key_mark_ = mark_;
    }
    child.inherit_mark(mark_);
  }
}

void ConfigNode::set_mark(ConfigMark mark) {
  mark_ = {};
  inherit_mark(mark);
}

void ConfigNode::set_path(const std::string& path) {
  if (path_ == path) {
    return;
  }
  path_ = path;
  for (size_t i = 0; i < children_.size(); ++i) {
    children_[i].set_path(join_path(path, is_map() ? children_[i].key_ : std::to_string(i)));
  }
}

bool operator==(const ConfigNode& a, const ConfigNode& b) {
  return a.kind_ == b.kind_ && a.quoted_ == b.quoted_ && a.text_ == b.text_ &&
         std::equal(
             a.children_.begin(), a.children_.end(), b.children_.begin(), b.children_.end(),
             [](const ConfigNode& x, const ConfigNode& y) { return x.key_ == y.key_ && x == y; });
}

std::string in_words(const ConfigNode& node) {
  if (node.is_absent()) return "nothing";
  if (node.is_list()) return "a list";
  if (node.is_map()) return "a map";
  if (node.is_null()) return "no value";
  return node.quoted() ? text("the text \"", printable(node.text()), "\"") : printable(node.text());
}

std::map<std::string, std::string> flat_values(const ConfigNode& config) {
  std::map<std::string, std::string> values;
  if (config.is_scalar()) {
    values[config.path()] = config.text();
  }
  for (const ConfigNode& child : config.children()) values.merge(flat_values(child));
  return values;
}

}  // namespace heed
