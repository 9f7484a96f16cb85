#include "layers/config/text.h"

#include <algorithm>
#include <array>

#include "layers/config/node.h"
#include "layers/text/formatted.h"

namespace heed {

namespace {

bool contains_any(const std::string& text, const char* characters) {
  return text.find_first_of(characters) != std::string::npos;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::string escaped(char c) {
  return c == '"' || c == '\\' ? std::string{'\\', c}
         : c == '\n'           ? "\\n"
         : c == '\t'           ? "\\t"
         : is_control(c)       ? formatted("\\x%02x", static_cast<unsigned char>(c))
                               : std::string(1, c);
}

std::string double_quoted(const std::string& text) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size(); ++i) {
    const bool no_break_space = text.compare(i, 2, "\xC2\xA0") == 0;  // it reads like a space
    out += no_break_space ? "\\_" : escaped(text[i]);
    i += no_break_space ? 1 : 0;
  }
  return out + "\"";
}

std::string scalar_text(const ConfigNode& node) {
  return node.quoted() ? double_quoted(node.text()) : node.text();
}

std::string key_text(const std::string& key) {
  return can_stand_plain(key) && !is_null_text(key) ? key : double_quoted(key);
}

// True if the node is written on the line of its key: a scalar, an empty list or map, or a short
// list of scalars without characters that are special between brackets.
bool fits_on_line(const ConfigNode& node) {
  if (!node.is_list()) {
    return node.size() == 0;
  }
  return node.size() <= 16 &&
         std::all_of(node.children().begin(), node.children().end(), [](const ConfigNode& child) {
           return child.is_scalar() && child.text().size() <= 40 &&
                  (child.quoted() || !contains_any(child.text(), ",[]{}?:"));
         });
}

std::string on_line(const ConfigNode& node) {
  if (node.is_absent()) {
    return "~";
  }
  if (node.is_scalar()) {
    return scalar_text(node);
  }
  if (node.is_map()) {
    return "{}";
  }
  std::string out = "[";
  for (const ConfigNode& child : node.children()) {
    out += out.size() > 1 ? ", " : "";
    out += scalar_text(child);
  }
  return out + "]";
}

void write_block(const ConfigNode& node, size_t indent, std::string& out) {
  for (const ConfigNode& child : node.children()) {
    out.append(indent, ' ').append(node.is_map() ? key_text(child.key()) + ":" : "-");
    if (fits_on_line(child)) {
      out.append(" ").append(on_line(child)).append("\n");
    } else if (node.is_list()) {  // the first part of an element follows its dash on the same line
      const size_t begin = out.size();
      write_block(child, indent + 2, out);
      out.erase(begin, indent + 1);
    } else {
      out += "\n";
      write_block(child, indent + 2, out);
    }
  }
}

}  // namespace

bool is_null_text(const std::string& text) {
  static const std::array<std::string, 5> nulls = {"", "~", "null", "Null", "NULL"};
  return std::find(nulls.begin(), nulls.end(), text) != nulls.end();
}

bool can_stand_plain(const std::string& text) {
  if (text.empty() || text.front() == ' ' || text.back() == ' ' || text.back() == ':' ||
      std::any_of(text.begin(), text.end(), is_control)) {
    return false;
  }
  const bool sign = text[0] == '-' && text.size() > 1 && text[1] != ' ' && !text.starts_with("---");
  if (contains_any(text.substr(0, 1), "-?:,[]{}#&*!|>'\"%@`") && !sign) {
    return false;
  }
  return text.find(": ") == std::string::npos && text.find(" #") == std::string::npos &&
         !text.starts_with("...") && text.find_first_of("\xC2\xE2\xEF") == std::string::npos;
}

bool reads_as_text(const std::string& text) {
  static const std::array<std::string, 12> truths = {"true", "false", "yes", "no", "on",   "off",
                                                     "y",    "n",     "t",   "f",  ".nan", ".inf"};
  const bool starts_like_a_number = contains_any(text.substr(0, 1), "0123456789+-.");
  return can_stand_plain(text) && !is_null_text(text) && !starts_like_a_number &&
         std::find(truths.begin(), truths.end(), in_lower_case(text)) == truths.end() &&
         !contains_any(text, ",[]{}");
}

std::string to_yaml(const ConfigNode& node) {
  if (fits_on_line(node)) return on_line(node) + "\n";
  std::string out;
  write_block(node, 0, out);
  return out;
}

}  // namespace heed
