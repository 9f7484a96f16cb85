#define PCRE2_CODE_UNIT_WIDTH 8
#include "train/wings/bpe/text/pattern.h"

#include <pcre2.h>

#include <algorithm>
#include <limits>
#include <new>

#include "autograd/base/error.h"
#include "layers/text/display.h"

namespace heed {

namespace {

constexpr size_t most_pattern_bytes = 10'000;
// Of one match. The usual patterns take a few steps for each character of a run of white space, and
// a text may be nothing else.
constexpr uint64_t steps_of_any_match = 1'000'000, steps_of_a_byte = 16;
constexpr uint32_t most_heap_kilobytes = 64'000;

std::string message_of(int error) {
  PCRE2_UCHAR8 message[256];
  pcre2_get_error_message_8(error, message, sizeof message);
  return reinterpret_cast<const char*>(message);
}

// PCRE2's \s has a character that Unicode has not counted as white space since 6.3, U+180E. The
// programs whose patterns these are follow Unicode.
std::string with_unicode_space(const std::string& pattern) {
  const std::string space = R"(\p{Z}\x{09}-\x{0D}\x{85})";
  std::string out;
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c != '\\' || i + 1 == pattern.size()) {
      in_class = c == '[' || (in_class && c != ']');
      out += c;
      continue;
    }
    const char escaped = pattern[++i];
    if (escaped == 's') {
      out += in_class ? space : "[" + space + "]";
    } else if (escaped == 'S' && !in_class) {
      out += "[^" + space + "]";
    } else {
      out += {c, escaped};
    }
  }
  return out;
}

}  // namespace

void Pattern::Free::operator()(pcre2_real_code_8* code) const { pcre2_code_free_8(code); }
void Matcher::Free::operator()(pcre2_real_match_data_8* data) const {
  pcre2_match_data_free_8(data);
}
void Matcher::Free::operator()(pcre2_real_match_context_8* context) const {
  pcre2_match_context_free_8(context);
}

Pattern::Pattern(const std::string& pattern, std::string where) : where_(std::move(where)) {
  require<IoError>(pattern.size() <= most_pattern_bytes, where_, ": expected a pattern of at most ",
                   most_pattern_bytes, " bytes, got ", pattern.size());
  const std::string text = with_unicode_space(pattern);
  int error = 0;
  size_t at = 0;
  code_.reset(pcre2_compile_8(reinterpret_cast<PCRE2_SPTR8>(text.data()), text.size(),
                              PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &at,
                              nullptr));
  require<IoError>(code_ != nullptr, where_, ": expected a regular expression, got ",
                   printable(pattern), ": ", code_ ? "" : message_of(error));
  pcre2_jit_compile_8(code_.get(), PCRE2_JIT_COMPLETE);  // where it is not available: slower
}

Matcher::Matcher(const Pattern& pattern)
    : pattern_(pattern),
      data_(pcre2_match_data_create_8(1, nullptr)),
      context_(pcre2_match_context_create_8(nullptr)) {
  if (data_ == nullptr || context_ == nullptr) {
    throw std::bad_alloc();
  }
  pcre2_set_heap_limit_8(context_.get(), most_heap_kilobytes);
}

std::optional<Match> Matcher::find(std::string_view text, size_t from) {
  const uint64_t wanted = steps_of_any_match + steps_of_a_byte * (text.size() - from);
  const auto most_steps =
      static_cast<uint32_t>(std::min<uint64_t>(wanted, std::numeric_limits<uint32_t>::max()));
  pcre2_set_match_limit_8(context_.get(), most_steps);
  pcre2_set_depth_limit_8(context_.get(), most_steps);
  const auto match = [&](uint32_t options) {
    return pcre2_match_8(pattern_.code_.get(), reinterpret_cast<PCRE2_SPTR8>(text.data()),
                         text.size(), from, options, data_.get(), context_.get());
  };
  constexpr uint32_t options = PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY_ATSTART;
  int found = match(options);
  if (found == PCRE2_ERROR_JIT_STACKLIMIT) {
    found = match(options | PCRE2_NO_JIT);  // on the heap
  }
  if (found == PCRE2_ERROR_NOMATCH) {
    return std::nullopt;
  }
  require<IoError>(found >= 0, pattern_.where_, ": the pattern fails at byte ", from,
                   " of the text: ", found >= 0 ? "" : message_of(found), " (at most ", most_steps,
                   " steps a match); it needs a simpler one");
  const size_t* const place = pcre2_get_ovector_pointer_8(data_.get());
  // \K can put the beginning of a match behind its end.
  return Match{std::min(place[0], place[1]), std::max(place[0], place[1])};
}

}  // namespace heed
