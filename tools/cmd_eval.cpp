// heed eval: how good a trained model is, over the whole validation set.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tools/run.h"
#include "train/evaluate.h"

namespace heed::cli {

namespace {

struct EvalOptions {
  std::string run;
  bool json = false;
};

void declare(Arguments& arguments, EvalOptions& o) {
  arguments.positional("RUN", o.run, "a run folder, or one of its checkpoints/step-* folders")
      .flag("--json", o.json, "one JSON object on standard output");
}

int run(const EvalOptions& o) {
  const TrainedRun trained = load_trained(o.run);
  const Task& task = *trained.loaded.task;
  const int64_t batch_size = trained.loaded.config.train.batch_size;
  const Evaluation validation = evaluate(*trained.model, task, Split::validation, batch_size, {});
  // As many examples of the training set, evenly spaced over it.
  const int64_t batches = (task.example_count(Split::validation) + batch_size - 1) / batch_size;
  const Evaluation training = evaluate(*trained.model, task, Split::train, batch_size, batches);

  nlohmann::ordered_json result{
      {"step", trained.state.step},      {"train_loss", training.loss},
      {"val_loss", validation.loss},     {"tokens", validation.tokens},
      {"accuracy", validation.accuracy}, {"exact_match", validation.exact_match}};
  if (o.json) {
    std::printf("%s\n", result.dump().c_str());
    return 0;
  }
  std::printf("step         %lld\n", static_cast<long long>(trained.state.step));
  std::printf("train loss   %.4f\n", training.loss);
  std::printf("val loss     %.4f over %lld tokens\n", validation.loss,
              static_cast<long long>(validation.tokens));
  std::printf("accuracy     %.2f%% of tokens, %.2f%% of sequences wholly right\n",
              100 * validation.accuracy, 100 * validation.exact_match);
  return 0;
}

}  // namespace

Command eval_command() {
  return command<EvalOptions>("eval", "loss and accuracy over the whole validation set",
                              "heed eval runs/quickstart --json", declare, run);
}

}  // namespace heed::cli
