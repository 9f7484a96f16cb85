#include "train/data/text_task.h"

#include <numeric>

#include "layers/text/utf8.h"
#include "train/data/data_file.h"
#include "train/files/number_words.h"
#include "train/tokenizers/vocabulary.h"

namespace heed {

void TextTask::Config::fields(Fields& f) {
  f.required("path", path, "text file, relative to the config's folder").also_known_as(path_words);
  f.section("tokenizer", tokenizer, "tokenizer", "what a token is").short_form = true;
  windows.fields(f);
  f.optional("fingerprint", fingerprint, fingerprint_help);
}

TextTask::TextTask(const Config& c, const TaskSetup& setup) : path_(setup.config_folder / c.path) {
  // Factor 3: the text itself and two bytes per token are in memory at the same time.
  const FileReader file = open_data_file(path_, 3);
  const std::string corpus = file.whole();
  check_utf8(corpus, path_.string());
  bytes_ = file.size();
  const std::string_view all = without_byte_order_mark(corpus);
  TokenizerSetup tokens{setup.config_folder, setup.checkpoint, std::span(&all, 1), ""};
  tokenizer_ = at_field<IoError, TaskFileError>("tokenizer.path", [&] {
    tokens.vocabulary = read_vocabulary(setup.vocabulary, stored_vocabulary);
    return tokenizer_registry().make(c.tokenizer, tokens);
  });
  for (int32_t id = 0; id < tokenizer_->vocab_size() && tokenizer_->is_lossless(); ++id) {
    bytes_of_token_.push_back(static_cast<int32_t>(tokenizer_->decode({&id, 1}).size()));
  }
  TokenRow row(tokenizer_->vocab_size());
  row.reserve(bytes_);  // no token is shorter than a byte; memory that stays untouched is not taken
  at_field<ConfigError, TaskError>(tokens.vocabulary.empty() ? "tokenizer" : "path", [&] {
    tokenizer_->encode_in_parts(all, [&](std::span<const int32_t> ids) { row.append(ids); });
  });
  require_fingerprint(path_, as_bytes(corpus), c.fingerprint);
  tokens_ = row.size();
  data_ = std::make_unique<Windows>(std::move(row), c.windows, setup.batch_size);
}

int64_t TextTask::target_bytes(const Batch& batch) const {
  if (bytes_of_token_.empty()) {
    return 0;
  }
  const std::span<const int32_t> targets = batch.targets.span();
  return std::accumulate(targets.begin(), targets.end(), int64_t{0}, [&](int64_t sum, int32_t id) {
    return sum + bytes_of_token_[static_cast<size_t>(id)];
  });
}

std::string TextTask::description() const {
  const std::string unit = tokenizer_->unit();
  const std::string of =
      unit == "token" || unit == "word"
          ? text(" out of ", grouped(tokenizer_->vocab_size()), ", ", grouped(bytes_), " bytes")
      : unit == "character" ? text(", ", tokenizer_->vocab_size(), " different")
                            : "";
  return text(path_.filename().string(), ": ", grouped(tokens_), " ", unit, "s", of);
}

}  // namespace heed
