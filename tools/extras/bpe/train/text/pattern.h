// Regular expressions over UTF-8 text, by PCRE2.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct pcre2_real_code_8;  // of PCRE2
struct pcre2_real_match_context_8;
struct pcre2_real_match_data_8;

namespace heed {

// The part [begin, end) of a text that a pattern matches, in bytes.
struct Match {
  size_t begin = 0;
  size_t end = 0;
};

// A compiled pattern of PCRE2, over characters of Unicode.
class Pattern {
 public:
  // Throws IoError, beginning with `where`, for a pattern that PCRE2 does not accept.
  Pattern(std::string pattern, std::string where);

 private:
  friend class Matcher;
  struct Free {
    void operator()(pcre2_real_code_8* code) const;
  };
  std::string where_;
  std::unique_ptr<pcre2_real_code_8, Free> code_;
};

// Looks for a pattern. Each thread needs its own. The pattern must outlive it.
class Matcher {
 public:
  explicit Matcher(const Pattern& pattern);

  // The first match in `text`, valid UTF-8, from byte `from`, the beginning of a character. The
  // text before `from` is what lookbehinds see. The time is not bounded: patterns are those of
  // published_patterns.h, none of which looks further than it matches.
  std::optional<Match> find(std::string_view text, size_t from);

 private:
  struct Free {
    void operator()(pcre2_real_match_data_8* data) const;
    void operator()(pcre2_real_match_context_8* context) const;
  };

  const Pattern& pattern_;
  std::unique_ptr<pcre2_real_match_data_8, Free> data_;
  std::unique_ptr<pcre2_real_match_context_8, Free> context_;
};

}  // namespace heed
