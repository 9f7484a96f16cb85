#include "tools/extras/report/pages/attention_maps.h"

#include <algorithm>
#include <map>

#include "layers/module/evaluation_mode.h"
#include "train/data/generate.h"

namespace heed {

std::vector<std::string> token_names(const Tokenizer* tokenizer, std::span<const int32_t> ids) {
  std::vector<std::string> names;
  for (const int32_t id : ids) {
    names.push_back(token_name(tokenizer, id));
  }
  return names;
}

namespace {

constexpr int64_t fewest_tokens = 3;  // fewer are not worth showing
constexpr int64_t most_written = 16;  // by a model that has no data

// Records for each layer, besides its weights, whether it runs inside one that has a context, or
// has a context itself.
class ContextObserver final : public AttentionRecorder {
 public:
  struct Sides {
    bool beside = false;
    bool reads = false;
  };

  void before_forward(const Module& layer, const Input& in) override {
    const bool reads = static_cast<bool>(in.context);
    inside_.push_back(reads || (!inside_.empty() && inside_.back()));
    sides[layer.path()] = {inside_.back(), reads};
  }
  void after_forward(const Module&, const Input&, const Tensor&) override { inside_.pop_back(); }

  std::map<std::string, Sides> sides;

 private:
  std::vector<bool> inside_;
};

// The most likely token at each position: what a decoder writes there.
std::vector<std::string> written(const Array& logits, const Tokenizer* tokenizer) {
  std::vector<int32_t> ids;
  const auto width = static_cast<size_t>(logits.dim(-1));
  for (size_t at = 0; at + width <= logits.span().size(); at += width) {
    ids.push_back(likeliest(logits.span().subspan(at, width)));
  }
  return token_names(tokenizer, ids);
}

// Names for an axis of this length. If the lengths differ (after pooling), positions are numbered.
std::vector<std::string> fitting(const std::vector<std::string>& names, int64_t length) {
  if (static_cast<int64_t>(names.size()) == length) {
    return names;
  }
  std::vector<std::string> numbers;
  for (int64_t i = 1; i <= length; ++i) {
    numbers.push_back(length == 1 ? "(all)" : std::to_string(i));
  }
  return numbers;
}

}  // namespace

bool are_shares(const Array& weights) {
  const auto is_none = [](real w) { return w < real(-1e-4) || w > real(1.0001); };
  return std::none_of(weights.data(), weights.data() + weights.size(), is_none);
}

std::vector<AttentionMap> attention_maps(Module& model, const Task& text, const Input& shown) {
  const EvaluationMode evaluating(model);
  ContextObserver observer;
  const Array output = model(shown).value();
  const std::vector<std::string> ids = token_names(text.tokenizer(), shown.ids);
  std::vector<std::string> source, says;
  if (shown.source_ids) {
    source = token_names(text.source_tokenizer(), shown.source_ids);
    says = written(output, text.tokenizer());
  }
  std::vector<AttentionMap> maps;
  for (AttentionRecorder::Weights& of : observer.recorded) {
    const Array& weights = of.weights;  // (1, H, T, S)
    if (!are_shares(weights)) continue;
    const ContextObserver::Sides sides = observer.sides[of.path];
    const bool of_source = shown.source_ids && !sides.beside;
    AttentionMap map{of.path, shown.source_ids && sides.reads, {}, {}, {}};
    map.queries = fitting(map.cross ? says : of_source ? source : ids, weights.dim(2));
    map.keys = fitting(map.cross || of_source ? source : ids, weights.dim(3));
    map.weights = weights.reshaped({weights.dim(1), weights.dim(2), weights.dim(3)});
    maps.push_back(std::move(map));
  }
  return maps;
}

namespace {

Ids first_of(const Ids& ids, int64_t count) { return ids.prefix({1, std::min(count, ids.size())}); }

// The length of a row up to its last element that counts.
template <class Values, class Counts>
int64_t length_of(const Values& row, Counts&& counts) {
  int64_t length = row.size();
  while (length > 1 && !counts(row.data()[length - 1])) {
    --length;
  }
  return length;
}

// The first example of the data, without padding.
Input example_of(const Dataset& data, int64_t most_tokens) {
  const Split split = data.example_count(Split::validation) > 0 ? Split::validation : Split::train;
  const Batch batch = data.examples(split, {0});
  if (!batch.input.ids) {
    return batch.input;
  }
  const auto kept = [](uint8_t mask) { return mask != 0; };
  const auto counted = [](int32_t target) { return target != ignored_target; };
  int64_t length = batch.input.ids.size();
  if (batch.input.mask && batch.input.mask.rank() == 2) {
    length = length_of(batch.input.mask, kept);
  } else if (batch.targets && batch.targets.size() == length) {
    length = length_of(batch.targets, counted);
  }
  Input shown(first_of(batch.input.ids, std::min(length, most_tokens)));
  if (batch.input.source_ids) {
    const Mask& mask = batch.input.source_mask;
    shown.source_ids = first_of(batch.input.source_ids,
                                mask ? length_of(mask, kept) : batch.input.source_ids.size());
  }
  return shown;
}

// The task's answer to a prompt; nullopt if the prompt is invalid.
std::optional<Exhibit> answered(Module& model, const Task& text, const std::string& prompt,
                                const AnswerOptions& options) {
  if (!text.mistake_in_prompt(prompt).empty()) {
    return {};
  }
  const Answer answer = text.answer(model, prompt, options);
  return Exhibit{prompt, answer.text, answer.shown};
}

}  // namespace

Exhibit exhibit(Module& model, const Task& task, const RunConfig& config, int64_t most_tokens) {
  if (task.tokenizer() == nullptr) {
    return {"", "", example_of(task.data(), most_tokens)};
  }
  // Shows the prompt only; does not generate.
  const AnswerOptions options{.tokens = 0, .context_length = config.context_length()};
  const auto long_enough = [](const std::optional<Exhibit>& of) {
    return of &&
           (of->shown.source_ids ? of->shown.source_ids : of->shown.ids).size() >= fewest_tokens;
  };
  if (auto given = answered(model, task, config.sample.prompt, options); long_enough(given)) {
    if (!given->shown.source_ids && given->shown.ids.size() > most_tokens) {
      given->shown = Input(first_of(given->shown.ids, most_tokens));
    }
    return *given;
  }
  if (task.data().example_count(Split::train) == 0) {  // a run without its data
    require<ConfigError>(task.continues_prompt(), "without its data there is no example to show; ",
                         "--prompt gives one");
    AnswerOptions writing = options;
    writing.tokens = most_written;
    const std::string& begin = config.sample.prompt;
    const auto own = answered(model, task, begin, writing);
    const auto shown = own ? answered(model, task, begin + own->answer, options) : own;
    require<ConfigError>(shown.has_value(), "sample.prompt: ", task.mistake_in_prompt(begin));
    return *shown;
  }
  const Input shown = example_of(task.data(), most_tokens);
  const Ids& read = shown.source_ids ? shown.source_ids : shown.ids;
  const Tokenizer& tokenizer = shown.source_ids ? *task.source_tokenizer() : *task.tokenizer();
  std::string prompt = tokenizer.decode(read.span());
  const size_t line = prompt.find_first_not_of('\n', prompt.find('\n'));
  if (task.continues_prompt() && line < prompt.size() / 2) {
    prompt.erase(0, line);  // a window of a text begins anywhere; the prompt with a line
  }
  auto of_example = answered(model, task, prompt, options);
  return of_example ? *of_example : Exhibit{prompt, "", shown};
}

}  // namespace heed
