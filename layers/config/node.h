#pragma once
// A config as a tree that remembers where each part of it was written. Nothing here knows a file
// format: train/config/yaml.h makes these trees from files, C++ makes them with
// `ConfigNode::map({{"type", "gpt"}, {"d_model", 128}})`.
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

// A place in a file. Lines and columns count from 1, columns count characters, not bytes.
struct ConfigMark {
  std::shared_ptr<const std::string> file;  // null: made in C++
  int64_t line = 0;                         // 0: no place of its own
  int64_t column = 0;
};

// `file:line:column`; nothing for what was made in C++.
std::string to_text(const ConfigMark& mark);

// One value of a config: a scalar, a list, a map with ordered keys, or nothing at all. Copies are
// deep. A scalar keeps its text; what it means is decided by the field that reads it (fields.h).
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

  // A scalar as it stands in a file. Plain text that could not stand without quotes becomes quoted;
  // plain `null`, `Null`, `NULL` and nothing become `~`.
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
  // The key under which the node stands in its map, and where that key was written.
  const std::string& key() const { return key_; }
  const ConfigMark& key_mark() const { return key_mark_; }

  const std::vector<ConfigNode>& children() const { return children_; }
  int64_t size() const { return static_cast<int64_t>(children_.size()); }
  // The child of a map, or a node that is absent.
  const ConfigNode& get(const std::string& key) const;
  bool has(const std::string& key) const { return find(key) != nullptr; }
  const ConfigNode* find(const std::string& key) const;
  ConfigNode* find(const std::string& key);
  // Element `index` of a list or map, 0 <= index < size().
  const ConfigNode& at(int64_t index) const;
  ConfigNode& at(int64_t index);

  // Adds a key, or replaces its value where it stands. An absent node or a null becomes a map.
  // Parts without a place take `key_mark`, or the place of this map when that has none either.
  ConfigNode& set(const std::string& key, ConfigNode value, ConfigMark key_mark = {});
  ConfigNode& append(ConfigNode element);
  // Replaces the value, keeping key and path.
  void assign(ConfigNode value);
  bool erase(const std::string& key);
  // Gives the place to this node and to every part of it that has none.
  void set_mark(ConfigMark mark);
  // Makes the node and its parts begin at this path (for a part that is read on its own).
  void set_path(const std::string& path);

  // Kinds, texts, quotes, keys of the children and their order; not places.
  friend bool operator==(const ConfigNode& a, const ConfigNode& b);

 private:
  // A node that has a place, has one for every part; paths of parts begin with that of the node.
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

// Children in path notation: ("model", "d_in") -> "model.d_in".
std::string join_path(const std::string& path, const std::string& key);

// What a node is, in the words of a message: `4.0`, `the text "4"`, `a list`, `a map`, `nothing`.
std::string in_words(const ConfigNode& node);

// The text of every scalar by its path: "model.num_heads" -> "4". For comparing two configs.
std::map<std::string, std::string> flat_values(const ConfigNode& config);

}  // namespace heed
