#include "train/yaml/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

#include "layers/text/utf8.h"
#include "train/yaml/yaml_text.h"

namespace heed {

namespace {

constexpr int64_t most_nodes = 10000;

// yaml-cpp turns the escapes \N (U+0085) and \_ (U+00A0) into a single byte; UTF-8 needs two.
std::string as_utf8(const std::string& value) {
  std::string text;
  for (size_t i = 0; i < value.size();) {
    const size_t size = utf8_at(value, i).size;
    text += size == 0 ? "\xC2" : "";
    text.append(value, i, std::max<size_t>(size, 1));
    i += std::max<size_t>(size, 1);
  }
  return text;
}

constexpr const char* does_not_belong =
    "this does not belong to what stands above it; check the indentation, and that lists and keys "
    "are not mixed";

// Builds the tree from the parser's events. They carry position, tag and anchor, which yaml-cpp's
// own nodes do not keep.
class TreeBuilder final : public YAML::EventHandler {
 public:
  // `start` is where the text begins in its file: line 1, column 1, or a later column of a --set.
  TreeBuilder(const std::string& text, ConfigMark start, ConfigErrors& errors)
      : text_(text), start_(std::move(start)), errors_(errors) {}

  ConfigNode root;

  // Rewords a parser error. The parser knows neither the open lists and maps nor the indentation.
  [[noreturn]] void syntax_error(const YAML::ParserException& error) {
    const size_t line = line_begin(text_, line_of(error.mark));
    const size_t indent = text_.find_first_not_of(" \t", line);
    const size_t tab = text_.find('\t', line);
    if (tab < indent) {
      stop(mark_at(error.mark.line, static_cast<int>(tab - line)),
           "a tab in the indentation; indent with spaces");
    }
    std::string message = error.msg;
    // yaml-cpp 0.9 refuses a value after a value where it reads it, 0.7 where it looks for the end.
    if (message == "unexpected scalar" || message.starts_with("plain value cannot start")) {
      if (open_.empty()) stop(mark_at(error.mark), does_not_belong);
      const bool list = open_.back().node.is_list();
      message = list ? "end of sequence not found" : "end of map not found";
    }
    if (message.starts_with("end of") && message.ends_with("flow not found") && !open_.empty()) {
      const ConfigMark& begin = open_.back().node.mark();
      stop(mark_at(error.mark),
           heed::text("expected a comma, or the ", open_.back().node.is_list() ? "]" : "}",
                      " for the bracket on line ", begin.line, ", column ", begin.column));
    }
    const bool colon = message.starts_with("illegal map value");
    std::optional<TextProblem> problem =
        colon ? find_key_problem(text_, offset(error.mark)) : std::nullopt;
    if (!problem && (colon || message.starts_with("end of map not found"))) {
      // A line without a colon and a space is found where the next one ends the map.
      const size_t at = line_of(error.mark);
      problem = find_line_problem(text_, colon && at > 0 ? at - 1 : at);
    }
    if (problem) {
      stop(mark_at(static_cast<int>(problem->line - 1), static_cast<int>(problem->column - 1)),
           problem->message);
    }
    stop(mark_at(error.mark), syntax_words(message));
  }

  [[noreturn]] void stop(const ConfigMark& mark, const std::string& message) {
    errors_.add_at(mark, "", message);
    throw errors_.exception();
  }

  // Converts columns from bytes (parser) to characters (users). The parser's mark can be past the
  // final newline; then the result is the end of the last line.
  ConfigMark mark_at(const YAML::Mark& mark) const {
    const bool behind = offset(mark) > text_.size();
    const size_t end = behind ? text_.size() : offset(mark);
    const size_t column = behind ? end - (text_.rfind('\n') + 1)
                                 : std::min(end, static_cast<size_t>(std::max(0, mark.column)));
    const size_t begin = end - column;
    const auto characters = std::count_if(text_.begin() + static_cast<std::ptrdiff_t>(begin),
                                          text_.begin() + static_cast<std::ptrdiff_t>(end),
                                          [](char c) { return (c & 0xC0) != 0x80; });
    return mark_at(mark.line - (behind ? 1 : 0), static_cast<int>(characters));
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) {
      const std::string line = text_.substr(std::min(offset(mark), text_.size()), 3);
      stop(mark_at(mark), line == "---" ? "a second document begins here; a config is one document"
                                        : does_not_belong);
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    ConfigNode node = ConfigNode::scalar("", false);
    node.set_mark(mark_at(mark));
    if (!open_.empty() && open_.back().node.is_map() && open_.back().has_key) {
      const Level& level = open_.back();
      const ConfigMark next = node.mark();  // for an empty value: the mark of the next token
      if (level.key_mark.line < next.line) {
        node.set_mark(level.key_mark);
      }
      if (level.key_mark.line == next.line && level.key_mark.column == next.column) {  // no colon
        errors_.add_at(level.key_mark, join_path(level.node.path(), level.key), "missing value");
      }
    }
    check_properties(mark, "?", anchor);
    take(std::move(node));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    errors_.add_at(mark_at(mark), next_path(),
                   "aliases (*name) are not allowed; write the value out");
    take_marked(ConfigNode::scalar("", false), mark);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_properties(mark, tag, anchor);
    const size_t begin = offset(mark);
    if (tag == "!" && begin < text_.size() && !is_closed(text_, begin)) {
      stop(mark_at(mark),
           heed::text("the quote ", text_[begin], " that begins here is not closed"));
    }
    take_marked(ConfigNode::scalar(tag == "!" ? as_utf8(value) : value, tag == "!"), mark);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(ConfigNode::list(), mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(ConfigNode::map(), mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  // A list or map that is still open.
  struct Level {
    ConfigNode node;
    std::map<std::string, int64_t> lines = {};  // line of each key so far
    bool has_key = false;
    bool duplicate = false;  // the next value is dropped
    std::string key = {};
    ConfigMark key_mark = {};
  };

  ConfigMark mark_at(int line, int column) const {
    const int64_t shift = line == 0 ? start_.column : 1;
    return {start_.file, start_.line + std::max(0, line), shift + std::max(0, column)};
  }

  static size_t line_of(const YAML::Mark& mark) {
    return static_cast<size_t>(std::max(0, mark.line));
  }
  static size_t offset(const YAML::Mark& mark) {
    return static_cast<size_t>(std::max(0, mark.pos));
  }

  std::string next_path() const {
    if (open_.empty()) {
      return "";
    }
    const Level& level = open_.back();
    if (level.node.is_map() && !level.has_key) {
      return level.node.path();
    }
    return join_path(level.node.path(),
                     level.node.is_list() ? std::to_string(level.node.size()) : level.key);
  }

  void check_properties(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    const size_t begin = offset(mark);
    const bool tagged = begin < text_.size() && text_[begin] == '!';
    if (anchor != 0) {
      errors_.add_at(mark_at(mark), next_path(), "anchors (&name) are not allowed");
    }
    if (tagged || (tag != "?" && tag != "!" && !tag.empty())) {
      errors_.add_at(mark_at(mark), next_path(), "tags (!name) are not allowed");
    }
  }

  void open(ConfigNode node, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    if (!open_.empty() && open_.back().node.is_map() && !open_.back().has_key) {
      const size_t begin = std::min(offset(mark), text_.size());
      stop(mark_at(mark), is_closed(text_, begin)
                              ? "expected a key, got a list or a map; a key is one word"
                              : heed::text("the bracket ", text_[begin], " is not closed"));
    }
    if (open_.size() >= most_levels) {
      stop(mark_at(mark), heed::text("nested more than ", most_levels, " levels deep"));
    }
    check_properties(mark, tag, anchor);
    node.set_mark(mark_at(mark));
    node.set_path(next_path());
    count(node);
    open_.push_back({std::move(node)});
  }

  void close() {
    ConfigNode node = std::move(open_.back().node);
    open_.pop_back();
    put(std::move(node));
  }

  void count(const ConfigNode& node) {
    if (++nodes_ > most_nodes) {
      stop(node.mark(), heed::text("more than ", most_nodes, " values"));
    }
  }

  void take_marked(ConfigNode node, const YAML::Mark& mark) {
    node.set_mark(mark_at(mark));
    take(std::move(node));
  }

  // Adds a scalar: a key or a value.
  void take(ConfigNode node) {
    if (!open_.empty() && open_.back().node.is_map() && !open_.back().has_key) {
      take_key(node);
      return;
    }
    count(node);
    put(std::move(node));
  }

  void take_key(const ConfigNode& node) {
    Level& level = open_.back();
    level.key = node.is_null() ? "" : node.text();
    level.key_mark = node.mark();
    level.has_key = true;
    if (level.key.empty()) {
      stop(node.mark(), "expected a key before the colon, got nothing");
    }
    if (level.key.size() > longest_key) {
      stop(node.mark(), heed::text("a key of ", level.key.size(), " bytes; at most ", longest_key));
    }
    if (level.key == "<<") {
      errors_.add_at(node.mark(), next_path(),
                     "merge keys (<<) are not allowed; write the values out");
    }
    const auto [first, fresh] = level.lines.emplace(level.key, node.mark().line);
    level.duplicate = !fresh;
    if (level.duplicate) {
      errors_.add_at(node.mark(), next_path(),
                     heed::text("this key is given twice, on line ", first->second, " and on line ",
                                node.mark().line, "; remove one"));
    }
  }

  void put(ConfigNode node) {
    if (open_.empty()) {
      root = std::move(node);
      return;
    }
    Level& level = open_.back();
    if (level.node.is_list()) {
      level.node.append(std::move(node));
      return;
    }
    if (!level.duplicate && level.key != "<<") {
      level.node.set(level.key, std::move(node), level.key_mark);
    }
    level.has_key = false;
  }

  const std::string& text_;
  const ConfigMark start_;
  ConfigErrors& errors_;
  std::vector<Level> open_;
  int64_t nodes_ = 0;
  int documents_ = 0;
};

}  // namespace

ConfigNode parse_value(const std::string& text, const ConfigMark& start, ConfigErrors& errors) {
  if (const std::optional<TextProblem> problem = find_text_problem(text)) {
    const int64_t shift = problem->line == 1 ? start.column - 1 : 0;
    errors.add_at({start.file, start.line + problem->line - 1, problem->column + shift}, "",
                  problem->message);
    errors.throw_if_any();
  }
  TreeBuilder builder(text, start, errors);
  try {
    // Without a final newline the parser mistakes an unclosed quote for a key.
    std::istringstream in(text.ends_with('\n') ? text : text + "\n");
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::ParserException& error) {
    builder.syntax_error(error);
  }
  return std::move(builder.root);
}

ConfigNode parse_config(const std::string& text, const std::string& file_name,
                        ConfigErrors& errors) {
  const ConfigMark start = {std::make_shared<const std::string>(file_name), 1, 1};
  const std::string body(without_byte_order_mark(text));
  ConfigNode root = parse_value(body, start, errors);
  if (root.is_absent() || root.is_null()) {
    errors.add_at(start, "", "the config is empty; it needs at least a model: section");
    errors.throw_if_any();
  }
  if (!root.is_map()) {
    const bool no_space = root.is_scalar() && root.text().find(':') != std::string::npos;
    errors.add(root, "expected keys with values, such as `seed: 123`, got ", in_words(root),
               no_space ? "; there must be a space after the colon" : "");
    errors.throw_if_any();
  }
  return root;
}

ConfigNode parse_config(const std::string& text, const std::string& file_name) {
  ConfigErrors errors;
  ConfigNode root = parse_config(text, file_name, errors);
  errors.throw_if_any();
  return root;
}

ConfigNode read_config(const std::string& path, ConfigErrors& errors) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  require<IoError>(status.type() != std::filesystem::file_type::not_found,
                   "cannot read the config ", path, ": there is no such file");
  require<IoError>(status.type() != std::filesystem::file_type::directory,
                   "cannot read the config ", path, ": it is a folder, expected a YAML file");
  require<IoError>(!error && std::filesystem::is_regular_file(status), "cannot read the config ",
                   path, ": ", error ? error.message() : "it is not a regular file");
  std::ifstream in(path, std::ios::binary);
  require<IoError>(in.is_open(), "cannot read the config ", path, ": permission denied?");
  std::string text;
  char piece[4096];
  while (text.size() <= most_config_bytes && in.read(piece, sizeof piece).gcount() > 0) {
    text.append(piece, static_cast<size_t>(in.gcount()));
  }
  require<IoError>(!in.bad(), "cannot read the config ", path, ": reading failed");
  return parse_config(text, path, errors);
}

ConfigNode read_config(const std::string& path) {
  ConfigErrors errors;
  ConfigNode root = read_config(path, errors);
  errors.throw_if_any();
  return root;
}

}  // namespace heed
