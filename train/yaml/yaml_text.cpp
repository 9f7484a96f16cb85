#include "train/yaml/yaml_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

#include "layers/text/display.h"
#include "layers/text/formatted.h"
#include "layers/text/utf8.h"

namespace heed {

namespace {

constexpr int64_t most_lines = 20000;
// Far above the 16 levels of a config, far below what overflows the parser's recursion. Brackets in
// text and comments are counted too, so the exact limit is checked by the tree builder.
constexpr size_t most_nesting = 100;

std::string bad_character(const std::string& text, size_t i) {
  const auto c = static_cast<unsigned char>(text[i]);
  const std::string hex = formatted("%02X", c);
  if (utf8_at(text, i).size == 0) {
    return "the byte 0x" + hex + " is not UTF-8; save the file as UTF-8";
  }
  if (c == 0) {
    return "a NUL byte; a config is a text file";
  }
  if (c == '\r' && (i + 1 == text.size() || text[i + 1] != '\n')) {
    return "a carriage return alone, the line end of old Macs; save the file with newlines";
  }
  const bool control = (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F;
  return control ? "the control character 0x" + hex + "; write \"\\x" + hex + "\" in double quotes"
                 : "";
}

// A no-break space that belongs to no text: it looks like the space after a colon, or like one of
// the indentation, but is a letter for YAML.
bool is_no_break_space(const std::string& text, size_t i) {
  if (text.compare(i, 2, "\xC2\xA0") != 0) {
    return false;
  }
  const size_t before = i == 0 ? std::string::npos : text.find_last_not_of(' ', i - 1);
  const bool begins = before == std::string::npos || text[before] == '\n';
  return begins || text[before] == ':';
}

// Counts block nesting by the columns where lines and dashes start.
class Indentation {
 public:
  size_t depth_after(const std::string& text, size_t begin) {
    for (size_t i = begin; i < text.size(); ++i) {
      const char c = text[i];
      if (c == ' ' || c == '\t') {
        continue;
      }
      if (c == '\n' || c == '\r' || c == '#') {
        break;
      }
      const size_t column = i - begin;
      while (!columns_.empty() && columns_.back() >= column) {
        columns_.pop_back();
      }
      columns_.push_back(column);
      const bool opens = c == '-' || c == '?' || c == ':';  // `- - a` nests on one line
      if (!opens || columns_.size() > most_nesting) {
        break;
      }
    }
    return columns_.size();
  }

 private:
  std::vector<size_t> columns_;
};

}  // namespace

std::optional<TextProblem> find_text_problem(const std::string& text) {
  if (text.size() > most_config_bytes) {
    return TextProblem{1, 1, "the config is larger than 1 MiB"};
  }
  TextProblem here;
  size_t brackets = 0;
  bool before_content = true;
  Indentation indentation;
  for (size_t i = 0; i < text.size(); i += utf8_at(text, i).size) {
    const char c = text[i];
    if (c < ' ' || c > '~') {
      here.message = bad_character(text, i);
    }
    if (here.message.empty() && is_no_break_space(text, i)) {
      here.message =
          "a no-break space (U+00A0) next to a colon or a key; type a space in its place, or "
          "\\_ in double quotes";
    }
    if (here.column == 1) {
      const bool deep = indentation.depth_after(text, i) > most_nesting;
      here.message = before_content && c == '%' ? "directives (%) are not allowed"
                     : here.line > most_lines
                         ? heed::text("the config has more than ", most_lines, " lines")
                     : deep ? "nested too deep, more than 16 levels"
                            : here.message;
    }
    brackets += c == '[' || c == '{' ? 1 : 0;
    brackets -= brackets > 0 && (c == ']' || c == '}') ? 1 : 0;
    if (here.message.empty() && brackets > most_nesting) {
      here.message = "nested too deep, more than 16 levels";
    }
    if (!here.message.empty()) {
      return here;
    }
    const bool comment = here.column == 1 && c == '#';
    before_content = before_content && (comment || c == '\n' || here.column > 1);
    here.line += c == '\n' ? 1 : 0;
    here.column = c == '\n' ? 1 : here.column + 1;
  }
  return {};
}

size_t line_begin(const std::string& text, size_t line) {
  size_t begin = 0;
  for (; line > 0 && begin < text.size(); --line) {
    begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
  }
  return begin;
}

bool is_closed(const std::string& text, size_t begin) {
  const char quote = begin < text.size() ? text[begin] : '\0';
  if (quote == '[' || quote == '{') {
    int64_t depth = 0;
    for (size_t i = begin; i < text.size() && (i == begin || depth > 0); ++i) {
      depth += text[i] == '[' || text[i] == '{' ? 1 : text[i] == ']' || text[i] == '}' ? -1 : 0;
    }
    return depth == 0;
  }
  if (quote != '"' && quote != '\'') {
    return true;
  }
  for (size_t i = begin + 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote && quote == '\'' && i + 1 < text.size() && text[i + 1] == quote) {
      ++i;
    } else if (text[i] == quote) {
      return true;
    }
  }
  return false;
}

namespace {

struct Line {
  int64_t number = 0;  // from 1
  size_t indent = 0;
  std::string words;  // from the first non-blank character
};

// The lines up to the one that contains byte `end`, without blank lines and comments.
std::vector<Line> lines_up_to(const std::string& text, size_t end) {
  std::vector<Line> lines;
  int64_t number = 1;
  for (size_t begin = 0; begin <= std::min(end, text.size()); ++number) {
    const size_t stop = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, stop - begin);
    const size_t indent = line.find_first_not_of(" \r");
    if (indent != std::string::npos && line[indent] != '#') {
      lines.push_back({number, indent, line.substr(indent)});
    }
    begin = stop + 1;
  }
  return lines;
}

// The position of a key's colon; npos if there is none.
size_t key_colon(const std::string& words) {
  const size_t colon = words.find(": ");
  return colon == std::string::npos && words.ends_with(':') ? words.size() - 1 : colon;
}

}  // namespace

std::optional<TextProblem> find_key_problem(const std::string& text, size_t colon) {
  const std::vector<Line> lines = lines_up_to(text, colon);
  if (lines.size() < 2 || colon >= text.size()) {
    return std::nullopt;
  }
  const Line &above = lines[lines.size() - 2], &here = lines.back();
  const size_t begin = line_begin(text, static_cast<size_t>(here.number - 1)) + here.indent;
  if (begin + key_colon(here.words) != colon) {
    return std::nullopt;  // not the first colon of its line
  }
  const auto column = [](const Line& line) { return static_cast<int64_t>(line.indent) + 1; };
  if (above.indent == here.indent && key_colon(above.words) == std::string::npos) {
    const bool has_colon = above.words.find(':') != std::string::npos;
    return TextProblem{
        above.number, column(above),
        has_colon ? "there must be a space after the colon" : "expected a colon after the key"};
  }
  if (here.indent > above.indent && key_colon(above.words) < above.words.size() - 1) {
    return TextProblem{here.number, column(here),
                       "indented further than the line above, whose key has a value already; "
                       "keys that belong together begin in the same column"};
  }
  return std::nullopt;
}

std::optional<TextProblem> find_line_problem(const std::string& text, size_t line) {
  const std::vector<Line> lines = lines_up_to(text, line_begin(text, line));
  if (lines.size() < 2 || lines.back().number != static_cast<int64_t>(line) + 1) {
    return std::nullopt;
  }
  const Line &above = lines[lines.size() - 2], &here = lines.back();
  const std::string& words = here.words;
  const size_t sign = words.find_first_of("=:"), value = words.find_first_not_of(" =:\r", sign);
  const size_t end = words.find_last_not_of(" \r", words.find(" #")) + 1;  // before a comment
  const std::string key = words.substr(0, std::min(words.find(' '), sign));
  std::string message;
  if (key_colon(words) == std::string::npos && !key.empty() && value != std::string::npos &&
      std::isalnum(static_cast<unsigned char>(key.back())) != 0) {
    message = "expected a colon and a space after the key: " +
              printable(key + ": " + words.substr(value, end - value));
  } else if (key_colon(words) != std::string::npos && here.indent < above.indent &&
             std::none_of(lines.begin(), lines.end() - 1,
                          [&](const Line& before) { return before.indent == here.indent; })) {
    message = heed::text("indented by ", here.indent, ", the line above by ", above.indent,
                         "; keys that belong together begin in the same column");
  }
  const TextProblem problem{here.number, static_cast<int64_t>(here.indent) + 1, message};
  return message.empty() ? std::nullopt : std::optional(problem);
}

std::string syntax_words(const std::string& parser_message) {
  static const std::array<std::pair<std::string, std::string>, 15> words = {{
      {"illegal map value",
       "a colon that does not belong here; look for a key without its colon or wrong indentation "
       "above, or put text that contains a colon in quotes"},
      {"illegal map key", "a question mark that does not belong here; put the text in quotes"},
      {"illegal block entry", "a list that begins beside its key; begin it on the next line"},
      {"illegal flow end", "a closing bracket without an opening one"},
      {"end of map not found",
       "expected the next key or the end; look for wrong indentation or text after a value"},
      {"end of sequence not found",
       "expected the next element, beginning with a dash, or the end; check the indentation"},
      {"unknown token", "a character that no value begins with; put the text in quotes"},
      {"unknown escape character",
       "an unknown escape: in double quotes \\ begins one; write \\\\ or /, or use single quotes"},
      {"bad character found while scanning hex number",
       "expected hexadecimal digits: in double quotes \\ begins an escape; write / or single "
       "quotes"},
      {"illegal EOF in scalar", "a quote is not closed"},
      {"unexpected character in block scalar",
       "after | or > the text begins on the next line; put text that begins with > in quotes"},
      {"illegal character found while scanning",
       "aliases (*name), anchors (&name) and tags (!name) are not allowed; put the text in quotes"},
      {"invalid unicode",
       "the escape is no Unicode character: \\uD800 to \\uDFFF are halves of one; write the "
       "character itself, or its code after \\U in eight digits"},
      {"the referenced anchor is not defined",
       "aliases (*name) are not allowed; put text that "
       "begins with * in quotes"},
      {"cannot assign multiple", "tags (!name) and anchors (&name) are not allowed"},
  }};
  for (const auto& [message, meaning] : words) {
    if (parser_message.starts_with(message)) {
      return meaning;
    }
  }
  return "not valid YAML: " + parser_message;
}

}  // namespace heed
