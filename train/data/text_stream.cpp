#include "train/data/text_stream.h"

#include <algorithm>
#include <vector>

#include "layers/text/utf8.h"

namespace heed {

std::string decode_after(const Tokenizer& tokenizer, int32_t before, std::span<const int32_t> ids) {
  if (tokenizer.is_lossless() || before < 0) {
    return tokenizer.decode(ids);
  }
  std::vector<int32_t> all{before};
  all.insert(all.end(), ids.begin(), ids.end());
  return tokenizer.decode(all).substr(tokenizer.decode({&before, 1}).size());
}

std::string TextStream::push(int32_t id) {
  waiting_ += decode_after(tokenizer_, last_, {&id, 1});
  last_ = id;
  return take(false);
}

std::string TextStream::push(const std::string& text, int32_t last) {
  waiting_ += text;
  last_ = last;
  return take(false);
}

std::string TextStream::take(bool all) {
  std::string out;
  size_t at = 0;
  while (at < waiting_.size()) {
    const Utf8Character c = utf8_at(waiting_, at);
    if (c.cut && !all) {
      break;
    }
    append_utf8(out, c.size > 0 ? c.code : U'\uFFFD');
    at += std::max<size_t>(1, c.size);
  }
  waiting_.erase(0, at);
  return out;
}

std::string StopStrings::push(const std::string& piece) {
  size_t held = waiting.size();  // bytes at the end that a stop string could begin with
  for (size_t i = 0; i < piece.size() && !reached; ++i) {
    waiting += piece[i];
    held = 0;
    for (auto stop = stops.begin(); stop != stops.end() && !reached; ++stop) {
      size_t same = std::min(stop->size(), waiting.size());
      while (!waiting.ends_with(stop->substr(0, same))) --same;
      reached = same == stop->size();
      held = reached ? same : std::max(held, same);
    }
  }
  std::string out = waiting.substr(0, waiting.size() - held);
  waiting.erase(0, out.size());
  return out;
}

}  // namespace heed
