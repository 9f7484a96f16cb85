#include "tools/extras/checks/train/advice.h"

#include <algorithm>

#include "autograd/array/storage.h"
#include "autograd/random/streams.h"
#include "tools/extras/checks/train/leak.h"
#include "train/files/human_readable.h"
#include "train/plan.h"
#include "train/run/metrics.h"
#include "train/step.h"

namespace heed {

namespace {

using Advice = std::vector<std::string>;

constexpr int64_t small_model = 5'000'000, largest_built_model = 50'000'000;  // parameters

// A gpt with one block of each kind: its blocks are alike, but for the attentions that they take in
// turn, and so it sees what the whole model sees, in a fraction of the time.
Choice with_few_blocks(Choice model) {
  if (model.type() == "gpt") {
    std::vector<Field> fields = fields_of(model.own_config());
    const auto* attention = model.find<Choice>("attention");
    *member_of<int64_t>(*find_field(fields, "num_layers")) = 1 + std::ssize(attention->others);
  }
  return model;
}

// A model that sees the tokens it has to predict. Building a larger model takes longer, so a larger
// one that says it is causal is believed.
void find_leak(const LoadedRun& run, const Plan& plan, Advice& found) {
  if (plan.parameters > (plan.says_causal ? small_model : largest_built_model)) return;
  const std::unique_ptr<Module> model = make_layer(with_few_blocks(run.config.model));
  if (sees_next_tokens(*model, run.task->data())) {
    found.emplace_back(
        "the model sees the tokens that it has to predict: its loss will be far too good, its "
        "text nonsense; a language model needs causal attention");
  }
  pool::trim();  // the activations' blocks; those of the weights are kept for the run's own model
}

// Options of samples that are never written. The prompt has another use: it is what `heed generate`
// and the attention maps take.
void find_unused_samples(const SampleConfig& sample, Advice& found) {
  const SampleConfig usual;
  std::string option;
  if (sample.tokens != usual.tokens) {
    option = text("sample.tokens is ", sample.tokens);
  } else if (sample.temperature != usual.temperature) {
    option = text("sample.temperature is ", sample.temperature);
  } else if (sample.top_k) {
    option = text("sample.top_k is ", *sample.top_k);
  } else if (sample.top_p) {
    option = text("sample.top_p is ", *sample.top_p);
  }
  if (!sample.every && !option.empty()) {
    found.push_back(option + ", but no sample is written: sample.every is none");
  }
}

// Learned positions that the data never gets to, heads for an attention that has none.
void find_odd_sizes(const RunConfig& config, Advice& found) {
  const auto* of_data = config.data.find<int64_t>("context_length");
  const auto* of_model = config.model.find<int64_t>("context_length");
  const auto* position = config.model.find<std::string>("position");
  if (of_data != nullptr && of_model != nullptr && *of_data < *of_model && position != nullptr &&
      *position == "learned") {
    found.push_back(text("data.context_length is ", *of_data, ", model.context_length ", *of_model,
                         ": the positions from ", *of_data,
                         " on are never trained, but text that is generated uses them"));
  }
  const auto* heads = config.model.find<int64_t>("num_heads");
  const auto* attention = config.model.find<Choice>("attention");
  const std::vector<Choice> all = attention != nullptr ? attention->all() : std::vector<Choice>();
  const auto has_heads = [](const Choice& of) { return of.find<int64_t>("num_heads") != nullptr; };
  if (heads != nullptr && *heads > 1 && !all.empty() &&
      std::none_of(all.begin(), all.end(), has_heads)) {
    found.push_back(text("model.num_heads is ", *heads, ", but ", attention->type(),
                         " takes no num_heads: write 1"));
  }
}

// A file of metrics that nobody can read.
void find_odd_training(const RunConfig& config, Advice& found) {
  const int64_t every = config.train.log_every;
  if (config.train.steps / std::min(every, config.eval.every.value_or(every)) > most_metrics_rows) {
    found.push_back(text("metrics.csv gets more than ", grouped(most_metrics_rows),
                         " rows; it is then too long to be read, and the run cannot be ",
                         "resumed: raise train.log_every, which is ", every));
  }
}

}  // namespace

Advice RunAdvice::about_model(const LoadedRun& run, Module& model) const {
  const Batch batch = run.task->data().next(1, streams().data());
  run.task->loss(model(batch.input), batch).sum.backward();
  int64_t count = 0;
  std::string names;
  for (NamedParameter& parameter : trained_parameters(model)) {
    if (!parameter.tensor.grad()) {
      ++count;
      names += count > 3 ? "" : (count > 1 ? ", " : "") + parameter.name;
    }
    parameter.tensor.zero_grad();
  }
  return count == 0
             ? Advice()
             : Advice{text(count, " of the parameters get no gradient and stay as drawn: ", names,
                           count > 3 ? ", ..." : "")};
}

Advice RunAdvice::about_run(const LoadedRun& run, const Plan& plan) const {
  Advice found;
  find_leak(run, plan, found);
  if (run.config.seed > int64_t{UINT32_MAX}) {
    found.push_back(text("seed: ", run.config.seed, " draws what ",
                         run.config.seed % (int64_t{1} << 32),
                         " does: 32 bits count, as in PyTorch"));
  }
  if (static_cast<float>(plan.base_lr) == 0) {
    found.push_back(text("the optimizer's learning rate is 0: the weights stay as they are ",
                         run.weights.empty() ? "drawn" : "in train.weights"));
  }
  find_unused_samples(run.config.sample, found);
  find_odd_sizes(run.config, found);
  find_odd_training(run.config, found);
  return found;
}

}  // namespace heed
