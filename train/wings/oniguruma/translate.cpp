#include "train/wings/oniguruma/translate.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "autograd/base/error.h"
#include "layers/text/display.h"
#include "layers/text/formatted.h"
#include "layers/text/utf8.h"

namespace heed {

namespace {

// What a character or an escape stands for: one character, or a set of them.
struct Item {
  char32_t code = 0;     // the character, if `set` is empty
  std::string set = {};  // as within a class of PCRE2: \p{L}
  bool negated = false;  // every character that is not in `set`
};

// White space as Unicode has it. PCRE2's \s has U+180E too, which is none since Unicode 6.3.
const char* const white_space = R"(\p{Z}\x{9}-\x{D}\x{85})";
// PCRE2's \w has other marks and numbers. Outside of a class, Oniguruma's has six more characters:
// superscripts and fractions of Latin-1.
const char* const of_word = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";
const char* const more_of_word = R"(\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE})";
const char* const digit = R"(\p{Nd})";

bool is_alphanumeric(char32_t code) {
  return code < 0x80 && std::isalnum(static_cast<int>(code)) != 0;
}

// A character, written so that it is literal within a class and outside of one.
std::string literal(char32_t code) {
  return is_alphanumeric(code) ? std::string(1, static_cast<char>(code))
                               : formatted("\\x{%X}", static_cast<unsigned>(code));
}

std::string one_of(const Item& item) { return (item.negated ? "[^" : "[") + item.set + "]"; }

// Reads a pattern from the left.
class Reader {
 public:
  Reader(std::string_view pattern, const std::string& scripts, const std::string& where)
      : pattern_(pattern), scripts_(scripts), where_(where) {}

  std::string_view rest() const { return pattern_.substr(at_); }
  bool next_is(std::string_view text) const { return rest().starts_with(text); }
  bool take(std::string_view text) {
    const bool found = next_is(text);
    at_ += found ? text.size() : 0;
    return found;
  }
  std::string_view take(size_t bytes) {
    at_ += bytes;
    return pattern_.substr(at_ - bytes, bytes);
  }

  [[noreturn]] void refuse(std::string_view construct) const {
    fail<IoError>(where_, ": expected a pattern that Oniguruma and PCRE2 read alike, got ",
                  construct, " in ", printable(pattern_));
  }

  // Takes a character, or a backslash and what belongs to it.
  Item item() {
    const char32_t code = character();
    return code == '\\' ? escape() : Item{code};
  }

  // Takes a class, [A], from behind its bracket. The result is an expression that matches one
  // character, and has a set alone if it is [set].
  std::pair<std::string, std::string> character_class(int depth = 0);

 private:
  char32_t character() {
    if (rest().empty()) {
      refuse("an end in the middle");
    }
    const Utf8Character c = utf8_at(pattern_, at_);
    if (c.size == 0) {
      refuse("bytes that are no UTF-8");
    }
    at_ += c.size;
    return c.code;
  }
  Item escape();
  Item property(bool negated);
  char32_t hexadecimal(size_t least, size_t most);
  std::string range(char32_t first);

  const std::string_view pattern_;
  const std::string& scripts_;
  const std::string& where_;
  size_t at_ = 0;
};

Item Reader::escape() {
  static const std::map<char32_t, Item> known = {
      {'n', {'\n'}}, {'r', {'\r'}},           {'t', {'\t'}},     {'f', {'\f'}},      {'a', {'\a'}},
      {'e', {0x1B}}, {'s', {0, white_space}}, {'d', {0, digit}}, {'w', {0, of_word}}};
  const char32_t code = character(),
                 lower = code == 'S' || code == 'D' || code == 'W' ? code + 32 : code;
  if (const auto found = known.find(lower); found != known.end()) {
    return {found->second.code, found->second.set, lower != code};
  }
  if (code == 'p' || code == 'P') {
    return property(code == 'P');
  }
  if (code == 'u') {
    return {hexadecimal(4, 4)};
  }
  if (code == 'x') {
    const bool braces = take("{");
    const char32_t value = braces ? hexadecimal(1, 6) : hexadecimal(2, 2);
    if (braces ? !take("}") : value >= 0x80) {
      refuse("\\x of a part of a character");
    }
    return {value};
  }
  if (is_alphanumeric(code)) {
    refuse(std::string{'\\', static_cast<char>(code)});
  }
  return {code};
}

char32_t Reader::hexadecimal(size_t least, size_t most) {
  const std::string_view digits =
      rest().substr(0, std::min(most, rest().find_first_not_of("0123456789abcdefABCDEF")));
  if (digits.size() < least) {
    refuse("\\x or \\u without its digits");
  }
  return static_cast<char32_t>(std::stoul(std::string(take(digits.size())), nullptr, 16));
}

// General categories, L and Lu, mean the same everywhere. Any other name is taken for a script.
Item Reader::property(bool negated) {
  const size_t end = rest().find('}');
  if (!take("{") || end == std::string_view::npos) {
    refuse(negated ? "\\P without {" : "\\p without {");
  }
  if (take("^")) {
    negated = !negated;
  }
  const size_t size = pattern_.find('}', at_) - at_;
  const std::string name(take(size));
  take("}");
  const bool is_category = (size == 1 || (size == 2 && name[1] >= 'a')) &&
                           std::string_view("CLMNPSZ").find(name[0]) != std::string_view::npos;
  if (size == 0 ||
      name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_") !=
          std::string::npos) {
    refuse("\\p{" + name + "}");
  }
  return {0, "\\p{" + (is_category ? "" : scripts_) + name + "}", negated};
}

// Within a class, after a character: the character, or a range that it begins.
std::string Reader::range(char32_t first) {
  if (!next_is("-") || next_is("-]") || next_is("-&&")) {
    return literal(first);
  }
  take("-");
  if (first == '-' || next_is("[")) {
    refuse("a - that may be a range");
  }
  const Item last = item();
  if (!last.set.empty() || last.code < first) {
    refuse("a range that is none");
  }
  return literal(first) + "-" + literal(last.code);
}

// A class is an intersection of sides, A&&B, and a side a union of items and of classes. What
// PCRE2's classes cannot hold becomes an alternative or a lookahead for the same character:
//   [a[^b]]       (?:[a]|[^b])
//   [A&&[^B]]     (?:(?=[A])(?:[^B]))
std::pair<std::string, std::string> Reader::character_class(int depth) {
  constexpr int deepest = 20;
  if (depth > deepest) {
    refuse("classes within classes without end");
  }
  const bool negated = take("^");
  std::string looks, set, others;
  const auto side = [&] {
    if (set.empty() && others.empty()) {
      refuse("a class without characters");
    }
    const std::string own = set.empty() ? "" : "[" + set + "]";
    return others.empty() ? own : "(?:" + (own.empty() ? others.substr(1) : own + others) + ")";
  };
  for (bool first = true; first || !next_is("]"); first = false) {
    if (take("&&")) {
      looks += "(?=" + side() + ")";
      set = others = "";
    } else if (next_is("[:")) {
      refuse("[: in a class");
    } else if (take("[")) {
      const auto [expression, inner] = character_class(depth + 1);
      set += inner;
      others += inner.empty() ? "|" + expression : "";
    } else {
      const Item next = item();
      if (!next.set.empty() && next_is("-") && !next_is("-]")) {
        refuse("a - after a set");
      }
      others += next.negated ? "|" + one_of(next) : "";
      set += next.negated ? "" : next.set.empty() ? range(next.code) : next.set;
    }
  }
  take("]");
  if (looks.empty() && others.empty()) {
    return {(negated ? "[^" : "[") + set + "]", negated ? "" : set};
  }
  const std::string last = side(), all = looks.empty() ? last : "(?:" + looks + last + ")";
  return {negated ? "(?:(?!" + all + ")(?s:.))" : all, ""};
}

// Translates a pattern from the left, group by group.
class Translator {
 public:
  explicit Translator(Reader& reader) : reader_(reader) {}

  std::string all() {
    while (!reader_.rest().empty()) {
      next();
    }
    return out_;  // PCRE2 reports brackets that are not closed
  }

 private:
  // What a repeat, * or {2}, would be of.
  enum class Before { nothing, item, assertion, repeat };
  struct Group {
    bool is_assertion = false;
    bool folds = false;  // ignores case
  };

  void next();
  void open();
  void close();
  void repeat();
  void fold(const Item& item);
  void add(const std::string& translated, Before kind) {
    out_ += translated;
    before_ = kind;
  }
  bool folds() const { return !groups_.empty() && groups_.back().folds; }

  Reader& reader_;
  std::string out_;
  std::vector<Group> groups_;
  Before before_ = Before::nothing;
  char32_t folded_ = 0;  // the letter before, in a group that ignores case
};

void Translator::next() {
  const char c = reader_.rest()[0];
  if (folds() && c != '|' && c != ')') {
    fold(reader_.item());
  } else if (c == '(') {
    open();
  } else if (c == ')') {
    close();
  } else if (c == '*' || c == '+' || c == '?' || c == '{') {
    repeat();
  } else if (reader_.take("|")) {
    folded_ = 0;
    add("|", Before::nothing);
  } else if (reader_.take("[")) {
    add(reader_.character_class().first, Before::item);
  } else if (reader_.take("^")) {  // of each line, but not of an empty one at the end
    add(R"((?:\A|(?<=\x{A})(?!\z)))", Before::assertion);
  } else if (reader_.take("$")) {
    add(R"((?=\x{A}|\z))", Before::assertion);
  } else if (reader_.take(".")) {
    add(".", Before::item);
  } else {
    Item item = reader_.item();
    item.set += item.set == of_word ? more_of_word : "";
    add(item.set.empty() ? literal(item.code) : one_of(item), Before::item);
  }
}

void Translator::open() {
  struct Known {
    const char* from;
    const char* to;
    Group group;
  };
  // Nothing refers to a group, so a group need not be captured. Oniguruma's m is PCRE2's s.
  static constexpr std::array<Known, 9> known{{{"(?:", "(?:", {}},
                                               {"(?>", "(?>", {}},
                                               {"(?=", "(?=", {true, false}},
                                               {"(?!", "(?!", {true, false}},
                                               {"(?<=", "(?<=", {true, false}},
                                               {"(?<!", "(?<!", {true, false}},
                                               {"(?i:", "(?i:", {false, true}},
                                               {"(?m:", "(?s:", {}},
                                               {"(", "(?:", {}}}};
  for (const Known& each : known) {
    if (reader_.take(each.from)) {
      if (each.from == std::string_view("(") && (reader_.next_is("?") || reader_.next_is("*"))) {
        reader_.refuse(text("(", reader_.take(std::min<size_t>(2, reader_.rest().size()))));
      }
      groups_.push_back(each.group);
      folded_ = 0;
      add(each.to, Before::nothing);
      return;
    }
  }
}

void Translator::close() {
  reader_.take(")");
  const bool assertion = !groups_.empty() && groups_.back().is_assertion;
  if (!groups_.empty()) {
    groups_.pop_back();
  }
  add(")", assertion ? Before::assertion : Before::item);
}

// Where case does not matter, Oniguruma takes one character for two: U+00DF for ss, U+FB01 for fi.
void Translator::fold(const Item& item) {
  const char32_t code = item.code;
  const bool letter = is_alphanumeric(code) || code == '\'' || code == ' ';
  const std::string pair{static_cast<char>(std::tolower(static_cast<int>(folded_ & 0x7F))),
                         static_cast<char>(std::tolower(static_cast<int>(code & 0x7F)))};
  const std::array<std::string_view, 5> ligatures{"ss", "st", "ff", "fi", "fl"};
  if (!letter || std::find(ligatures.begin(), ligatures.end(), pair) != ligatures.end()) {
    reader_.refuse("(?i: of " + (letter ? pair : "more than letters"));
  }
  folded_ = code;
  add(literal(code), Before::item);
}

void Translator::repeat() {
  std::string count(reader_.take(1));
  if (count == "{") {
    const std::string_view rest = reader_.rest();
    const size_t size = std::min(rest.find_first_not_of("0123456789,"), rest.size());
    const std::string_view inner = rest.substr(0, size);
    if (!rest.substr(size).starts_with("}") || inner.empty() || inner == "," ||
        std::count(inner.begin(), inner.end(), ',') > 1) {
      add(literal('{'), Before::item);  // it begins no repeat
      return;
    }
    count += inner.starts_with(",") ? "0" : "";
    count += reader_.take(size + 1);
  }
  if (before_ != Before::item) {
    reader_.refuse(text("a repeat ", count,
                        before_ == Before::nothing  ? " of nothing"
                        : before_ == Before::repeat ? " of a repeat"
                                                    : " of an assertion"));
  }
  const bool lazy = reader_.take("?"), possessive = !lazy && reader_.take("+");
  if (count[0] == '{' && (possessive || (lazy && count.find(',') == std::string::npos))) {
    reader_.refuse(text(count, lazy ? "?" : "+"));
  }
  add(text(count, lazy ? "?" : "", possessive ? "+" : ""), Before::repeat);
}

}  // namespace

std::string translate_oniguruma(const std::string& pattern, const std::string& scripts,
                                const std::string& where) {
  Reader reader(pattern, scripts, where);
  return Translator(reader).all();
}

}  // namespace heed
