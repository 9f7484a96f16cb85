// The patterns by which published tokenizers cut a text, as their files have them and for PCRE2.
#pragma once

#include <span>
#include <string>

namespace heed {

// The patterns of GPT-2, and of GPT-4 (cl100k) and Llama 3.
extern const char* const gpt2_pattern;
extern const char* const gpt4_pattern;

struct PublishedPattern {
  const char* of;       // whose it is; "": another one of the same
  const char* pattern;  // as in tokenizer.json, in the syntax of Oniguruma
  // The same for PCRE2, if more than white space is written differently.
  const char* pcre2 = nullptr;
};

std::span<const PublishedPattern> published_patterns();

// A text as a pattern that matches just it.
std::string quoted_pattern(const std::string& text);

// The pattern for PCRE2, with UTF and UCP, that matches what `pattern` of a tokenizer.json matches
// for Oniguruma: a published one, or a quoted text. Of others it is not known whether both
// libraries read them alike, and other pieces make other ids: they are refused by an IoError that
// begins with `where`.
std::string pattern_for_pcre2(const std::string& pattern, const std::string& where);

}  // namespace heed
