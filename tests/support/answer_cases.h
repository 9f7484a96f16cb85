// Small trained models that are asked something.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "autograd/random/streams.h"
#include "tests/support/training_run.h"
#include "train/data/generate.h"
#include "train/step.h"

namespace heed::testing {

// Trains a config for its steps, without a run folder.
inline Stepping trained(const std::string& config) {
  Stepping run(load_run(parse_config(config, "c.yaml"), "."));
  for (int64_t i = 0; i < run.loaded.config.train.steps; ++i) {
    train_step(*run.model, *run.loaded.task, *run.optimizer, run.loaded.config.train,
               run.optimizer->base_lr());
  }
  return run;
}

inline Answer ask(const Stepping& run, const std::string& prompt) {
  std::string said;
  AnswerOptions options{.tokens = 5, .context_length = run.loaded.config.context_length()};
  options.each = [&](const std::string& text) { said += text; };
  const StreamsState before = streams().state();
  const Answer answer = run.loaded.task->answer(*run.model, prompt, options);
  CHECK(said == answer.text);
  CHECK(streams().state() == before);
  CHECK(run.model->training());
  (*run.model)(answer.shown);  // the shown input runs through the model again
  return answer;
}

inline const std::string adamw = "optimizer: {type: adamw, lr: 1e-2}\n";

}  // namespace heed::testing
