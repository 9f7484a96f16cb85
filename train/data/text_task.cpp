#include "train/data/text_task.h"

#include "layers/text/utf8.h"
#include "train/data/data_file.h"
#include "train/tokenizers/tokenizer.h"
#include "train/files/words.h"

namespace heed {

namespace {

TokenRow bytes_of(const std::string& text) {
  TokenRow row(static_cast<int64_t>(text.size()), 256);
  int64_t at = 0;
  for (const char c : text) {
    row.set(at++, static_cast<unsigned char>(c));
  }
  return row;
}

TokenRow characters_of(const std::string& text, int64_t count, const CharTokenizer& tokenizer) {
  TokenRow row(count, tokenizer.vocab_size());
  size_t byte = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Utf8Character c = utf8_at(text, byte);
    row.set(i, tokenizer.id_of(c.code));
    byte += c.size;
  }
  return row;
}

}  // namespace

void TextTask::Config::fields(Fields& f) {
  f.required("path", path, "text file, relative to the config's folder");
  f.choice("tokenizer", tokenizer, {"char", "byte"}, "what a token is");
  windows.fields(f);
  f.optional("fingerprint", fingerprint,
             "size and hash of the file; a run's own config has it and refuses another file");
}

TextTask::TextTask(const Config& c, const TaskSetup& setup) : path_(setup.config_folder / c.path) {
  // Factor 3: the text itself and two bytes per token are in memory at the same time.
  const FileReader file = open_data_file(path_, 3);
  std::string corpus(static_cast<size_t>(file.size()), '\0');
  file.read(0, std::as_writable_bytes(std::span(corpus)));
  require_fingerprint(path_, as_bytes(corpus), c.fingerprint);
  const int64_t characters = check_utf8(corpus, path_.string());
  if (c.tokenizer == "byte") {
    tokenizer_ = std::make_unique<ByteTokenizer>();
    set_tokens(bytes_of(corpus), c.windows, setup.batch_size);
    return;
  }
  auto tokenizer = std::make_unique<CharTokenizer>(corpus);
  set_tokens(characters_of(corpus, characters, *tokenizer), c.windows, setup.batch_size);
  tokenizer_ = std::move(tokenizer);
}

std::string TextTask::description() const {
  const bool bytes = dynamic_cast<const ByteTokenizer*>(tokenizer_.get()) != nullptr;
  return text(path_.filename().string(), ": ", grouped(token_count()),
              bytes ? " bytes" : text(" characters, ", tokenizer_->vocab_size(), " different"));
}

}  // namespace heed
