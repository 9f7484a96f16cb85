#define PCRE2_CODE_UNIT_WIDTH 8
#include "train/wings/bpe/text/pattern.h"

#include <pcre2.h>

#include <algorithm>
#include <limits>
#include <new>

#include "autograd/base/error.h"
#include "layers/text/display.h"
#include "layers/text/utf8.h"
#include "train/wings/oniguruma/translate.h"

namespace heed {

namespace {

constexpr size_t most_pattern_bytes = 10'000;
// Of one match. The usual patterns take a few steps for each character of a run of white space, and
// a text may be nothing else.
constexpr uint64_t steps_of_any_match = 1'000'000, steps_of_a_byte = 16;
constexpr uint32_t most_heap_kilobytes = 64'000;
// Bytes that a match sees at first. Most pieces are words.
constexpr size_t first_window = 256;
constexpr uint64_t steps_of_window = 10'000;

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

Pattern::Pattern(const std::string& pattern, std::string where) : where_(std::move(where)) {
  require<IoError>(pattern.size() <= most_pattern_bytes, where_, ": expected a pattern of at most ",
                   most_pattern_bytes, " bytes, got ", pattern.size());
  // What ends a line does not depend on how PCRE2 was built.
  const std::string text =
      "(*LF)" + translate_oniguruma(pattern, PCRE2_MINOR < 40 ? "" : "sc:", where_);
  int error = 0;
  size_t at = 0;
  code_.reset(pcre2_compile_8(reinterpret_cast<PCRE2_SPTR8>(text.data()), text.size(),
                              PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &at,
                              nullptr));
  require<IoError>(code_ != nullptr, where_, ": expected a pattern that PCRE2 takes, got ",
                   printable(pattern), ": ", code_ ? "" : message_of(error));
  // Where it is not available: slower.
  pcre2_jit_compile_8(code_.get(), PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD);
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

int Matcher::match(std::string_view text, size_t from, uint64_t steps, uint32_t options) {
  const auto most_steps =
      static_cast<uint32_t>(std::min<uint64_t>(steps, std::numeric_limits<uint32_t>::max()));
  pcre2_set_match_limit_8(context_.get(), most_steps);
  pcre2_set_depth_limit_8(context_.get(), most_steps);
  const auto match = [&](uint32_t more) {
    return pcre2_match_8(pattern_.code_.get(), reinterpret_cast<PCRE2_SPTR8>(text.data()),
                         text.size(), from, options | more | PCRE2_NO_UTF_CHECK, data_.get(),
                         context_.get());
  };
  const int found = match(0);
  return found == PCRE2_ERROR_JIT_STACKLIMIT ? match(PCRE2_NO_JIT) : found;  // on the heap
}

// Searches in a window of a few bytes. Where a match could depend on what is behind the window, it
// is tried at that place alone with larger windows, which costs patience. Text that a match takes,
// or that has none, gives patience.
std::optional<Match> Matcher::find(std::string_view text, size_t from) {
  const size_t* const place = pcre2_get_ovector_pointer_8(data_.get());
  const auto patience_of = [](size_t bytes) { return 64 * static_cast<int64_t>(bytes); };
  size_t at = from, window = first_window;  // no match begins before `at`
  while (true) {
    const bool is_all = window >= text.size() - at, searches = window == first_window;
    const size_t end = is_all ? text.size() : whole_characters(text.substr(0, at + window)).size();
    const uint64_t steps =
        (is_all ? steps_of_any_match : steps_of_window) + steps_of_a_byte * (end - at);
    const int found = match(text.substr(0, end), at, steps,
                            (searches ? 0 : PCRE2_ANCHORED) | (is_all ? 0 : PCRE2_PARTIAL_HARD));
    const bool none = found == PCRE2_ERROR_NOMATCH;
    patience_ -= searches ? 0 : static_cast<int64_t>(end - at);
    if (found >= 0 && (is_all || place[1] < end)) {
      patience_ += patience_of(place[1] - from);
      return Match{place[0], place[1]};
    }
    if (none && is_all && searches) {
      patience_ += patience_of(text.size() - from);
      return std::nullopt;
    }
    const bool places = found >= 0 || found == PCRE2_ERROR_PARTIAL;
    patience_ -= none || places ? 0 : static_cast<int64_t>(steps);
    const bool is_patient = patience_ + patience_of(text.size() - from) > 0;
    require<IoError>(
        (!is_all || none) && is_patient, pattern_.where_, ": the pattern fails at byte ", at,
        " of the text: ", is_patient ? message_of(found) : "it looks far ahead again and again",
        " (at most ", steps, " steps a match); it needs a simpler one");
    if (none) {
      at = searches ? end : at + utf8_at(text, at).size;
      window = first_window;
    } else {
      at = places ? place[0] : at;
      window *= 4;
    }
  }
}

}  // namespace heed
