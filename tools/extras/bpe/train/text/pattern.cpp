#define PCRE2_CODE_UNIT_WIDTH 8
#include "tools/extras/bpe/train/text/pattern.h"

#include <pcre2.h>

#include <limits>
#include <new>

#include "autograd/base/error.h"
#include "layers/text/display.h"

namespace heed {

namespace {

std::string message_of(int error) {
  PCRE2_UCHAR8 message[256];
  pcre2_get_error_message_8(error, message, sizeof message);
  return reinterpret_cast<const char*>(message);
}

}  // namespace

void Pattern::Free::operator()(pcre2_real_code_8* code) const { pcre2_code_free_8(code); }
void Matcher::Free::operator()(pcre2_real_match_data_8* data) const {
  pcre2_match_data_free_8(data);
}
void Matcher::Free::operator()(pcre2_real_match_context_8* context) const {
  pcre2_match_context_free_8(context);
}

Pattern::Pattern(std::string pattern, std::string where) : where_(std::move(where)) {
  // Before PCRE2 10.40 \p{Han} is what \p{sc:Han} is since then, and sc: an error.
  for (size_t at = 0; PCRE2_MINOR < 40 && (at = pattern.find("sc:")) != std::string::npos;) {
    pattern.erase(at, 3);
  }
  int error = 0;
  size_t at = 0;
  code_.reset(pcre2_compile_8(reinterpret_cast<PCRE2_SPTR8>(pattern.data()), pattern.size(),
                              PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &at,
                              nullptr));
  require<IoError>(code_ != nullptr, where_, ": expected a pattern that PCRE2 takes, got ",
                   printable(pattern), ": ", code_ ? "" : message_of(error));
  // Where it is not available: slower.
  pcre2_jit_compile_8(code_.get(), PCRE2_JIT_COMPLETE);
}

Matcher::Matcher(const Pattern& pattern)
    : pattern_(pattern),
      data_(pcre2_match_data_create_8(1, nullptr)),
      context_(pcre2_match_context_create_8(nullptr)) {
  if (data_ == nullptr || context_ == nullptr) {
    throw std::bad_alloc();
  }
  // PCRE2's own limit is too low for a run of ten million blanks.
  pcre2_set_match_limit_8(context_.get(), std::numeric_limits<uint32_t>::max());
}

std::optional<Match> Matcher::find(std::string_view text, size_t from) {
  const int found =
      pcre2_match_8(pattern_.code_.get(), reinterpret_cast<PCRE2_SPTR8>(text.data()), text.size(),
                    from, PCRE2_NO_UTF_CHECK, data_.get(), context_.get());
  if (found == PCRE2_ERROR_NOMATCH) {
    return std::nullopt;
  }
  require<IoError>(found >= 0, pattern_.where_, ": the pattern fails at byte ", from,
                   " of the text: ", found >= 0 ? "" : message_of(found));
  const size_t* const place = pcre2_get_ovector_pointer_8(data_.get());
  return Match{place[0], place[1]};
}

}  // namespace heed
