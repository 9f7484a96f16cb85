// Any bytes as a tokenizer.json. Refused, the message names the file; taken, texts can be encoded,
// and what is written is read as the same.
#include <algorithm>

#include "autograd/base/error.h"
#include "tests/fuzz/fuzz.h"
#include "tools/extras/bpe/train/bpe_tokenizer.h"
#include "tools/extras/bpe/train/read_json.h"
#include "tools/extras/bpe/train/write.h"

using namespace heed;
using heed::fuzz::expect;

namespace {

void check_texts(const BpeTokenizer& tokenizer) {
  const BpeModel& model = tokenizer.model();
  const bool keeps_all = !model.prefix_space &&
                         std::all_of(model.rules.begin(), model.rules.end(), [](const auto& rule) {
                           return rule.keep == SplitRule::Keep::all;
                         });
  for (const std::string text : {"Hello, I am 12345  ab\n\nabc's", "\xFF\xC3", "aaaaaaaaaaaaa"}) {
    try {
      const std::vector<int32_t> ids = tokenizer.encode(text);
      for (const int32_t id : ids) {
        expect(id >= 0 && id < tokenizer.vocab_size(), "an id of the vocabulary");
        expect(!tokenizer.name(id).empty(), "a name");
      }
      expect(!keeps_all || tokenizer.decode(ids) == text, "the text to come back");
    } catch (const ConfigError&) {  // a byte without a token
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  try {
    const BpeModel model = bpe_from_json(input.rest(), "fuzz");
    expect(static_cast<size_t>(model.tokens.size()) <= 4 * size + 2048, "as much as the file has");
    expect(bpe_from_json(bpe_to_json(model), "again") == model, "the same model");
    check_texts(BpeTokenizer(model, "fuzz"));
  } catch (const IoError& error) {
    const std::string message = error.what();
    expect(message.starts_with("fuzz"), "the file at fault, got " + message);
    expect(message.find('\n') == std::string::npos, "one line, got " + message);
  }
  return 0;
}
