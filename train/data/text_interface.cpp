#include "train/data/text_interface.h"

#include <algorithm>
#include <span>

#include "autograd/base/rethrow.h"
#include "train/data/text_stream.h"
#include "train/tokenizers/vocabulary.h"

namespace heed {

std::string token_name(const Tokenizer* tokenizer, int32_t id) {
  return tokenizer != nullptr ? tokenizer->name(id) : std::to_string(id);
}

std::string TextInterface::classes() const {
  return class_names_.empty() ? "" : vocabulary_to_json("classes", class_names_);
}

std::string TextInterface::target_name(int32_t target) const {
  return class_names_.empty() ? token_name(tokenizer(), target)
                              : class_names_.at(static_cast<size_t>(target));
}

void TextInterface::check_prompt(const std::string& prompt) const {
  require<ConfigError>(!tokenizer()->encode(prompt).empty(),
                       "expected at least one token, got none");
}

std::string TextInterface::mistake_in_prompt(const std::string& prompt) const {
  return error_of<ConfigError>([&] { check_prompt(prompt); }).value_or("");
}

Answer TextInterface::answer(Module& model, const std::string& prompt,
                             const AnswerOptions& options) const {
  const std::vector<int32_t> before = tokenizer()->encode(prompt);
  TextStream stream(*tokenizer());
  const int32_t last_read = before.empty() ? -1 : before.back();
  stream.push(prompt, last_read);
  const std::vector<int32_t> after = generate(
      model, before, options.tokens, options.sampling, options.context_length,
      [&](int32_t id) { options.say(stream.push(id)); }, options.stop);
  options.say(stream.finish());
  const size_t shown = std::min(before.size(), static_cast<size_t>(options.context_length));
  const std::span<const int32_t> last(before.end() - static_cast<ptrdiff_t>(shown), before.end());
  return {decode_after(*tokenizer(), last_read, after),
          Ids::from({1, static_cast<int64_t>(shown)}, last)};
}

std::map<std::string, std::string> stored_tokenizers(const TextInterface& text) {
  std::map<std::string, std::string> files;
  if (text.tokenizer() != nullptr) {
    files[stored_tokenizer] = text.tokenizer()->stored();
    files[stored_vocabulary] = text.tokenizer()->vocabulary();
  }
  if (text.source_tokenizer() != nullptr) {
    files[stored_source_vocabulary] = text.source_tokenizer()->vocabulary();
  }
  files[stored_classes] = text.classes();
  std::erase_if(files, [](const auto& file) { return file.second.empty(); });
  return files;
}

}  // namespace heed
