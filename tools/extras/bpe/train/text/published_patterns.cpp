#include "tools/extras/bpe/train/text/published_patterns.h"

#include <cctype>
#include <utility>

#include "autograd/base/error.h"
#include "layers/text/display.h"

namespace heed {

// Contractions, words with the blank before them, numbers, other signs, and white space, whose last
// blank belongs to the word after it.
constexpr const char* gpt2_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// The same with contractions in capitals, numbers of at most three digits, newlines apart.
constexpr const char* gpt4_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

namespace {

// The third column is for what PCRE2 reads differently: [A&&[^B]], an intersection, here what is
// neither in B nor in the categories besides A; \p{Han}, which has more characters there than those
// of the script; [A[B]], a union.
constexpr PublishedPattern published[] = {
    {"GPT-2", gpt2_pattern},
    {"GPT-4", gpt4_pattern},
    {"Llama 3", gpt4_pattern},
    {"GPT-4o", R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
               R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
               R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
               R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}|)"
               R"( ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {"Qwen 2", R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
               R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {"Qwen 3.5", R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}|)"
                 R"( ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {"Kimi",
     R"([\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*)"
     R"([\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
     R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+)"
     R"([\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}|)"
     R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     R"(\p{sc:Han}+|[^\r\n\p{L}\p{N}]?[^\p{Ll}\p{N}\p{P}\p{S}\p{Z}\p{C}\p{sc:Han}]*)"
     R"([^\p{Lu}\p{Lt}\p{N}\p{P}\p{S}\p{Z}\p{C}\p{sc:Han}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
     R"([^\r\n\p{L}\p{N}]?[^\p{Ll}\p{N}\p{P}\p{S}\p{Z}\p{C}\p{sc:Han}]+)"
     R"([^\p{Lu}\p{Lt}\p{N}\p{P}\p{S}\p{Z}\p{C}\p{sc:Han}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
     R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {"BLOOM", " ?[^(\\s|[.,!?\u2026\u3002\uFF0C\u3001\u0964\u06D4\u060C])]+",
     " ?[^\\s(|.,!?\u2026\u3002\uFF0C\u3001\u0964\u06D4\u060C)]+"},
    // Three rules, of which the last has the newlines themselves.
    {"DeepSeek", R"(\p{N}{1,3})"},
    {"", "[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+"},
    {"", R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|)"
         "[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|"
         "\\s+(?!\\S)|\\s+"},
    // What heed itself writes, for Digits and for the characters of a run.
    {"", R"(\p{N})"},
    {"", R"(\p{N}+)"},
    {"", R"([^\n]|\n)"}};

// White space as Unicode has it: PCRE2's \s has U+180E too, which is none since Unicode 6.3.
std::string with_white_space(std::string pattern) {
  const std::string space = R"(\p{Z}\t-\r\x85)";
  for (const auto& [from, to] : {std::pair<std::string, std::string>{R"([^\s)", "[^" + space},
                                 {R"(\s)", "[" + space + "]"},
                                 {R"(\S)", "[^" + space + "]"}}) {
    for (size_t at = 0; (at = pattern.find(from, at)) != std::string::npos; at += to.size()) {
      pattern.replace(at, from.size(), to);
    }
  }
  return pattern;
}

// True for what quoted_pattern makes of some text.
bool is_quoted(const std::string& pattern) {
  std::string plain;
  for (size_t i = 0; i < pattern.size(); ++i) {
    i += pattern[i] == '\\' ? 1 : 0;
    plain += pattern.substr(i, 1);
  }
  return !plain.empty() && quoted_pattern(plain) == pattern;
}

}  // namespace

std::span<const PublishedPattern> published_patterns() { return published; }

std::string quoted_pattern(const std::string& text) {
  std::string pattern;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool literal = byte >= 0x80 || std::isalnum(byte) != 0;
    pattern += literal ? std::string(1, c) : std::string{'\\', c};
  }
  return pattern;
}

std::string pattern_for_pcre2(const std::string& pattern, const std::string& where) {
  std::string names;
  for (const PublishedPattern& each : published) {
    if (pattern == each.pattern) {
      return with_white_space(each.pcre2 != nullptr ? each.pcre2 : each.pattern);
    }
    names += each.of + std::string(*each.of == '\0' ? "" : ", ");
  }
  require<IoError>(is_quoted(pattern), where, ": expected the pattern of ", names, "or a quoted ",
                   "text, got ", printable(pattern));
  return pattern;
}

}  // namespace heed
