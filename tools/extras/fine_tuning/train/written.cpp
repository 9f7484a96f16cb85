#include "tools/extras/fine_tuning/train/written.h"

#include "train/data/text_stream.h"

namespace heed {

Written write_until(Module& model, const Tokenizer& tokenizer, const std::vector<int32_t>& prompt,
                    int32_t end, const AnswerOptions& options, const std::string& before) {
  Written written;
  TextStream stream(tokenizer);
  if (!before.empty()) {
    stream.push(before, prompt.back());
  }
  bool ended = false;
  const auto say = [&](const std::string& part) {
    written.text += part;
    options.say(part);
  };
  written.ids = generate(
      model, prompt, options.tokens, options.sampling, options.context_length,
      [&](int32_t id) {
        ended = id == end;
        say(ended ? "" : stream.push(id));
      },
      [&] { return ended || (options.stop && options.stop()); });
  say(stream.finish());
  if (ended) {
    written.ids.pop_back();
  }
  return written;
}

}  // namespace heed
