#include "tools/extras/own_data/train/own_data_task.h"

#include <algorithm>
#include <cstdlib>

#include "layers/module/evaluation_mode.h"
#include "layers/text/display.h"
#include "train/data/prompt_length.h"
#include "train/files/human_readable.h"
#include "train/tokenizers/vocabulary.h"

namespace heed {

namespace {

constexpr int64_t examples_in_plan = 3;

}  // namespace

std::shared_ptr<const Tokenizer> OwnDataTask::make_tokenizer(
    const TaskSetup& setup, std::span<const std::string_view> corpus, const char* kept_as) const {
  const auto make = [&] {
    return tokenizer_registry().make(config_.tokenizer,
                                     TokenizerSetup{setup.config_folder, setup.checkpoint, corpus,
                                                    read_vocabulary(setup.vocabulary, kept_as)});
  };
  return at_field<IoError, TaskFileError>(
      "tokenizer.path", [&] { return at_field<ConfigError, TaskError>("tokenizer", make); });
}

void OwnDataTask::take(const SplitRows& rows, std::unique_ptr<OwnExamples> examples) {
  examples_ = examples.get();
  may_be_longer_ = examples->are_of_a_test();
  data_ = std::move(examples);
  for (const TextRows& file : rows.files()) {
    columns_ = files_.empty() ? file.columns : columns_;
    files_.push_back(file.path);
    if (!file.warning.empty()) warnings_.push_back(file.warning);
  }
  if (rows.validation_rows_seen() > 0) {
    warnings_.push_back(text(rows.validation_rows_seen(), " examples of ",
                             files_[1].filename().string(), " are in ",
                             files_[0].filename().string(),
                             " too: the validation loss is lower than that of new examples"));
  }
}

std::string OwnDataTask::location(Split split, int64_t example) const {
  const int32_t line = examples().line(split, example);
  return text(files_[line > 0 ? 0 : 1].filename().string(), ":", std::abs(line));
}

std::string OwnDataTask::description() const {
  if (files_.empty()) return no_examples;
  const std::string held_out = grouped(examples().example_count(Split::validation));
  return text(files_[0].filename().string(), ": ", grouped(examples().example_count(Split::train)),
              " examples to train on, ",
              files_.size() > 1
                  ? text(held_out, " of ", files_[1].filename().string(), " to validate with")
                  : held_out + " held out by their hash",
              ", ", vocabulary_in_words(),
              examples().left_out() > 0
                  ? text("; ", grouped(examples().left_out()), " longer than ",
                         max_length() ? text("max_length ", *max_length()) : "the model reads",
                         " are left out")
                  : "");
}

std::vector<std::pair<std::string, std::string>> OwnDataTask::details() const {
  std::vector<std::pair<std::string, std::string>> lines;
  if (!columns_.empty()) lines.emplace_back("columns", columns_);
  for (int64_t i = 0; i < std::min(examples_in_plan, examples().example_count(Split::train)); ++i) {
    lines.emplace_back("example", text('"', printable(input_text(Split::train, i), 60), "\" -> \"",
                                       printable(target_text(Split::train, i), 60), '"'));
  }
  return lines;
}

std::string OwnDataTask::vocabulary_in_words() const {
  const std::string known = text(grouped(reader().mark(0)), " ", reader().unit(), "s");
  return source_tokenizer_ ? text(known, " to read, ", grouped(tokenizer_->mark(0)), " to write")
                           : known;
}

// ---- answers

std::vector<int32_t> OwnDataTask::question_of(const std::string& prompt) const {
  std::vector<int32_t> tokens = reader().encode(prompt);
  require_length(tokens.size(), examples().longest().source, reader().unit(),
                 ", the longest that it was trained on");
  return tokens;
}

std::string OwnDataTask::input_text(Split split, int64_t example) const {
  return reader().decode(examples().input(split, example));
}

std::string OwnDataTask::target_text(Split split, int64_t example) const {
  return tokenizer_->decode(examples().target(split, example));
}

std::string OwnDataTask::answer(Module& model, Split split, int64_t example) const {
  const EvaluationMode evaluating(model);
  return reply(model, examples().input(split, example), {}).text;
}

}  // namespace heed
