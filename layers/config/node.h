// A config as a tree that remembers where each part of it was written. It is independent of file
// formats: train/yaml/yaml.h makes these trees from files, C++ code makes them with
// `ConfigNode::map({{"type", "gpt"}, {"d_model", 128}})`.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "autograd/base/error.h"

namespace heed {

// A location in a file. Lines and columns start at 1. Columns count characters, not bytes.
struct ConfigMark {
  std::shared_ptr<const std::string> file;  // null: made in C++
  int64_t line = 0;                         // 0: unknown
  int64_t column = 0;
};

// `file:line:column`, or "" for a value made in C++.
std::string to_text(const ConfigMark& mark);

// One value of a config: a scalar, a list, a map with ordered keys, or absent. Copies are deep. A
// scalar keeps its text; the field that reads it decides what it means (fields.h).
class ConfigNode {
 public:
  enum class Kind { absent, scalar, list, map };

  ConfigNode() = default;
  // Text that reads as something else without quotes ("12", "true", "") is marked as quoted.
  ConfigNode(const std::string& value);
  ConfigNode(const char* value) : ConfigNode(std::string(value)) {}
  ConfigNode(bool value);
  template <std::integral T>
  ConfigNode(T value) : kind_(Kind::scalar), text_(std::to_string(value)) {}
  // The shortest text that reads back to the same double.
  ConfigNode(double value);

  // A scalar as read from a file. Plain text that cannot be written without quotes becomes quoted;
  // plain `null`, `Null`, `NULL` and "" become `~`.
  static ConfigNode scalar(const std::string& text, bool quoted);
  static ConfigNode list(std::vector<ConfigNode> elements = {});
  static ConfigNode map(std::initializer_list<std::pair<std::string, ConfigNode>> entries = {});

  Kind kind() const { return kind_; }
  bool is_absent() const { return kind_ == Kind::absent; }
  bool is_scalar() const { return kind_ == Kind::scalar; }
  bool is_list() const { return kind_ == Kind::list; }
  bool is_map() const { return kind_ == Kind::map; }
  bool is_null() const { return is_scalar() && !quoted_ && text_ == "~"; }
  const std::string& text() const { return text_; }
  bool quoted() const { return quoted_; }

  // "model.attention.num_heads", "layers.0.d_in"; "" at the top.
  const std::string& path() const { return path_; }
  const ConfigMark& mark() const { return mark_; }
  // The node's key in its map, and where that key was written.
  const std::string& key() const { return key_; }
  const ConfigMark& key_mark() const { return key_mark_; }

  const std::vector<ConfigNode>& children() const { return children_; }
  int64_t size() const { return static_cast<int64_t>(children_.size()); }
  // The child with this key, or an absent node.
  const ConfigNode& get(const std::string& key) const;
  bool has(const std::string& key) const { return find(key) != nullptr; }
  const ConfigNode* find(const std::string& key) const;
  ConfigNode* find(const std::string& key);
  // Element `index` of a list or map, 0 <= index < size().
  const ConfigNode& at(int64_t index) const;
  ConfigNode& at(int64_t index);

  // Adds a key, or replaces its value without changing the order. An absent node or a null becomes
  // a map. Parts without a location take `key_mark` or, if that is empty too, this map's location.
  ConfigNode& set(const std::string& key, ConfigNode value, ConfigMark key_mark = {});
  ConfigNode& append(ConfigNode element);
  // Replaces the value, keeping key and path.
  void assign(ConfigNode value);
  bool erase(const std::string& key);
  // Sets the location of this node and of every part of it that has none.
  void set_mark(ConfigMark mark);
  // Sets the path of this node, with which the paths of its parts begin. For a part that is read
  // on its own.
  void set_path(const std::string& path);

  // Compares kinds, texts, quotes, and the keys and order of children, but not locations.
  friend bool operator==(const ConfigNode& a, const ConfigNode& b);

 private:
  // Sets the location unless there is one. A node that has a location has one for every part.
  void inherit_mark(const ConfigMark& mark);

  Kind kind_ = Kind::absent;
  bool quoted_ = false;
  std::string text_;
  std::string key_;
  std::string path_;
  ConfigMark mark_;
  ConfigMark key_mark_;
  std::vector<ConfigNode> children_;
};

// The path of a child: ("model", "d_in") -> "model.d_in".
std::string join_path(const std::string& path, const std::string& key);

// Describes a node for a message: `4.0`, `the text "4"`, `a list`, `a map`, `nothing`.
std::string in_words(const ConfigNode& node);

// The text of every scalar by its path: "model.num_heads" -> "4". For comparing two configs.
std::map<std::string, std::string> flat_values(const ConfigNode& config);

}  // namespace heed
