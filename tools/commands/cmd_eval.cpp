// heed eval: metrics of a trained model over the whole validation set.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tools/commands/by_length.h"
#include "tools/commands/run.h"
#include "train/evaluate.h"
#include "train/files/words.h"

namespace heed::cli {

namespace {

struct EvalOptions {
  std::string run;
  std::vector<std::string> sets;
  bool json = false;
};

void declare(Arguments& arguments, EvalOptions& o) {
  arguments.positional("RUN", o.run, "a run folder, or one of its checkpoints/step-* folders")
      .option("--set", o.sets, set_of_run)
      .flag("--json", o.json, "one JSON object on standard output");
}

using EvalJson = nlohmann::ordered_json;

EvalJson number(std::optional<double> value) { return value ? EvalJson(*value) : EvalJson(); }

// The training metrics are null for a task that has no training examples (a stream), and accuracies
// for one that counts nothing as right.
EvalJson as_json(int64_t step, const std::optional<Evaluation>& training,
                 const Evaluation& validation) {
  const Evaluation of_training = training.value_or(Evaluation{});
  return {{"step", step},
          {"train_loss", training ? EvalJson(of_training.loss) : EvalJson()},
          {"val_loss", validation.loss},
          {"tokens", validation.tokens},
          {"bits_per_byte", number(validation.bits_per_byte)},
          {"accuracy", number(validation.accuracy)},
          {"exact_match", number(validation.exact_match)},
          {"train_accuracy", number(of_training.accuracy)},
          {"train_exact_match", number(of_training.exact_match)},
          {"by_length", by_length_json<EvalJson>(validation.by_length)}};
}

void print(int64_t step, const std::optional<Evaluation>& training, const Evaluation& validation) {
  std::printf("step         %lld\n", static_cast<long long>(step));
  if (training) {
    std::printf("train loss   %s\n", loss_text(training->loss).c_str());
  }
  std::printf("val loss     %s over %lld targets\n", loss_text(validation.loss).c_str(),
              static_cast<long long>(validation.tokens));
  if (validation.bits_per_byte) {
    std::printf("bits a byte  %.4f of text\n", *validation.bits_per_byte);
  }
  if (validation.accuracy && validation.exact_match) {
    std::printf("accuracy     %.2f%% of targets, %.2f%% of sequences wholly right\n",
                100 * *validation.accuracy, 100 * *validation.exact_match);
  }
  const std::string by_length = by_length_text(validation.by_length);
  std::printf("%s%s", by_length.empty() ? "" : "\n", by_length.c_str());
}

int run(const EvalOptions& o) {
  const TrainedRun trained = load_trained(o.run, o.sets);
  const Task& task = *trained.loaded.task;
  const int64_t batch_size = trained.loaded.config.train.batch_size;
  const Evaluation validation = evaluate(*trained.model, task, Split::validation, batch_size, {});
  // The same number of training examples, evenly spaced.
  const int64_t batches = (task.example_count(Split::validation) + batch_size - 1) / batch_size;
  std::optional<Evaluation> training;
  if (task.example_count(Split::train) > 0) {
    training = evaluate(*trained.model, task, Split::train, batch_size, batches);
  }

  if (o.json) {
    std::printf("%s\n", as_json(trained.state.step, training, validation).dump().c_str());
  } else {
    print(trained.state.step, training, validation);
  }
  return 0;
}

}  // namespace

Command eval_command() {
  return command<EvalOptions>("eval", "loss and accuracy over the whole validation set",
                              "heed eval runs/quickstart --json", declare, run);
}

}  // namespace heed::cli
