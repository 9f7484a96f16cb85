#include "tools/extras/fine_tuning/train/instructions_task.h"

#include <algorithm>

#include "autograd/base/modes.h"
#include "autograd/base/rethrow.h"
#include "layers/text/display.h"
#include "tools/extras/fine_tuning/train/instruction_rows.h"
#include "tools/extras/fine_tuning/train/written.h"
#include "train/files/human_readable.h"
#include "train/tokenizers/vocabulary.h"

namespace heed {

namespace {

constexpr const char* usual_end = "<|endoftext|>";  // of GPT-2

// The token that a text is, if it is a single one.
std::optional<int32_t> token_that_is(const Tokenizer& tokenizer, const std::string& text) {
  std::vector<int32_t> ids;  // none of a text with characters that the vocabulary has not
  error_of<ConfigError>([&] { ids = tokenizer.encode(text); });
  return ids.size() == 1 && tokenizer.decode(ids) == text ? std::optional(ids[0]) : std::nullopt;
}

}  // namespace

void InstructionsTask::Config::fields(Fields& f) {
  f.required("path", file.path,
             "*.json, a list of objects with instruction, input (may be missing) and output, or "
             "*.jsonl, an object each line; relative to the config's folder");
  f.optional("template", form,
             "what is around an instruction: alpaca, phi3, or a text with {instruction} and "
             "{input}");
  f.optional("template_without_input", without_input,
             "with a text: another one, for rows without an input; by default the same");
  f.choice("loss_on", loss_on, {"answer", "all"},
           "answer: the answer and its end token alone; all: the instruction too");
  f.optional("end_token", end_token,
             "a text that is one token of the vocabulary and ends an answer; by default "
             "<|endoftext|> or, where the vocabulary has none, a token <end> that is added to it");
  file.more_fields(f, /*is_table=*/false);
}

void InstructionsTask::Config::check(ConfigErrors& errors, const ConfigNode& at) const {
  file.check(errors, at, {});
  if (const auto wrong = error_of<ConfigError>([&] { PromptTemplate(form, without_input); })) {
    errors.add_field(at, "template", *wrong);
  }
}

InstructionsTask::InstructionsTask(const Config& c, const TaskSetup& setup)
    : OwnDataTask(c.file), config_(c), form_(c.form, c.without_input) {
  const SplitRows rows(c.file, setup,
                       [&](std::string_view bytes, const std::filesystem::path& path) {
                         return read_instructions(bytes, path, form_);
                       });
  make_tokenizer_with_end(setup, rows);
  const bool is_asked = setup.data == TaskSetup::Data::absent;  // with half of it for an answer
  const PairSizes room{setup.context_length, setup.context_length / (is_asked ? 2 : 1)};
  take(rows, std::make_unique<OwnExamples>(*this, rows, c.file, tokenizer_->mark(0), setup, room));
}

void InstructionsTask::make_tokenizer_with_end(const TaskSetup& setup, const SplitRows& rows) {
  std::vector<std::string_view> corpus = rows.cells(0);
  const std::vector<std::string_view> answers = rows.cells(1);
  corpus.insert(corpus.end(), answers.begin(), answers.end());
  const std::shared_ptr<const Tokenizer> inner = make_tokenizer(setup, corpus, stored_vocabulary);
  const bool is_given = !config_.end_token.empty();
  const std::optional<int32_t> end =
      token_that_is(*inner, is_given ? config_.end_token : usual_end);
  if (is_given && !end) {
    throw TaskError("end_token", text("expected a text that is one token of the vocabulary, got ",
                                      printable(config_.end_token)));
  }
  tokenizer_ = std::make_unique<MarkedTokenizer>(
      inner, end ? std::vector<std::string>{} : std::vector<std::string>{"<end>"});
  end_ = end.value_or(tokenizer_->mark(0));
  for (const bool with_input : {false, true}) {
    at_field<ConfigError, TaskError>("template", [&] {  // else each row would have the mistake
      return inner->encode(form_.before(with_input) + form_.after(with_input));
    });
  }
}

OwnExample InstructionsTask::example(const TextRow& row) const {
  OwnExample both{tokens_of(*tokenizer_, row.cells[0]), tokens_of(*tokenizer_, row.cells[1])};
  require<ConfigError>(std::count(both.target.begin(), both.target.end(), end_) == 0,
                       "expected an output without the end token ", tokenizer_->name(end_),
                       ", got ", printable(row.cells[1]));
  both.input.insert(both.input.end(), both.target.begin(), both.target.end());
  both.tokens = std::ssize(both.input) + 1;
  return both;
}

std::vector<std::pair<std::string, int64_t>> InstructionsTask::model_sizes() const {
  return {{"vocab_size", tokenizer_->vocab_size()}, {"context_length", context_length()}};
}

std::vector<int32_t> InstructionsTask::prompt_of(Split split, int64_t example) const {
  std::vector<int32_t> ids = examples().input(split, example);
  ids.resize(ids.size() - examples().target(split, example).size());
  return ids;
}

Batch InstructionsTask::blank(int64_t count, const PairSizes& room) const {
  const Shape shape{count, room.source};
  return {Input(Ids::full(shape, end_), Mask::zeros(shape)), Ids::full(shape, ignored_target)};
}

void InstructionsTask::fill(Batch& batch, int64_t i, std::span<const int32_t> whole,
                            std::span<const int32_t> answer) const {
  const int64_t begin = i * batch.targets.dim(1);
  const int64_t before_answer = begin + std::ssize(whole) - std::ssize(answer) - 1;
  std::copy(whole.begin(), whole.end(), batch.input.ids.mutable_data() + begin);
  std::fill_n(batch.input.mask.mutable_data() + begin, whole.size(), uint8_t{1});
  *std::copy(answer.begin(), answer.end(), batch.targets.mutable_data() + before_answer) = end_;
}

Ids InstructionsTask::loss_targets(const Batch& batch) const {
  if (config_.loss_on == "answer" || dry_run()) {
    return batch.targets;
  }
  Ids all = batch.targets.clone();  // a copy of a batch shares its arrays
  const int64_t length = batch.targets.dim(1);
  const uint8_t* const mask = batch.input.mask.data();
  int32_t* const targets = all.mutable_data();
  for (int64_t i = 0; i < batch.targets.size(); ++i) {
    if (targets[i] == ignored_target && (i + 1) % length > 0 && mask[i + 1] == 1) {
      targets[i] = batch.input.ids.data()[i + 1];
    }
  }
  return all;
}

BatchLoss InstructionsTask::loss(const Tensor& output, const Batch& batch) const {
  Batch all = batch;
  all.targets = loss_targets(batch);
  return OwnDataTask::loss(output, all);
}

std::vector<std::pair<std::string, std::string>> InstructionsTask::details() const {
  std::vector<std::pair<std::string, std::string>> lines = OwnDataTask::details();
  lines.insert(lines.begin(),
               {"answers", text("up to ", grouped(longest_answer()), " ", tokenizer_->unit(),
                                "s and ", tokenizer_->name(end_), "; loss on ",
                                config_.loss_on == "all" ? "the instructions too" : "them alone")});
  return lines;
}

std::vector<int32_t> InstructionsTask::question_of(const std::string& prompt) const {
  const Instruction asked = read_prompt(prompt, form_);
  for (const std::string& part : {asked.instruction, asked.input}) {
    tokenizer_->encode(part);  // so that a message counts in what was typed
  }
  std::vector<int32_t> ids = tokenizer_->encode(form_.fill(asked));
  require<ConfigError>(!ids.empty() && std::ssize(ids) <= context_length(), "expected at most ",
                       context_length(), " ", tokenizer_->unit(), "s in the template, got ",
                       ids.size());
  return ids;
}

Answer InstructionsTask::reply(Module& model, const std::vector<int32_t>& prompt,
                               const AnswerOptions& options) const {
  const Written written = write_until(model, *tokenizer_, prompt, end_, options);
  std::vector<int32_t> ids = prompt;
  ids.insert(ids.end(), written.ids.begin(), written.ids.end());
  const int64_t shown = std::min(std::ssize(ids), context_length());
  const std::span<const int32_t> last(ids.end() - shown, ids.end());
  return {written.text, Input(Ids::from({1, shown}, last))};
}

// The instruction and its input: what the template has before and after them is the same in each.
std::string InstructionsTask::input_text(Split split, int64_t example) const {
  const std::string whole = tokenizer_->decode(prompt_of(split, example));
  for (const bool with_input : {true, false}) {
    const std::string before = form_.before(with_input), after = form_.after(with_input);
    if (whole.size() >= before.size() + after.size() && whole.starts_with(before) &&
        whole.ends_with(after)) {
      return whole.substr(before.size(), whole.size() - before.size() - after.size());
    }
  }
  return whole;  // of words, which are not a text cut into pieces
}

std::string InstructionsTask::answer(Module& model, Split split, int64_t example) const {
  const AnswerOptions options{.tokens = longest_answer() + 1,
                              .sampling = {.temperature = 0},
                              .context_length = context_length()};
  return reply(model, prompt_of(split, example), options).text;
}

}  // namespace heed
