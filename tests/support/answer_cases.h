// Small trained models that are asked something.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "autograd/random/streams.h"
#include "tests/support/training_run.h"
#include "train/data/generate.h"
#include "train/step.h"

namespace heed::testing {

struct Trained {
  LoadedRun loaded;
  std::unique_ptr<Module> model;
};

// Trains a config for its steps, without a run folder.
inline Trained trained(const std::string& config) {
  Trained made{load_run(parse_config(config, "c.yaml"), "."), nullptr};
  apply_settings(made.loaded.config);
  made.model = make_layer(made.loaded.config.model);
  const auto optimizer =
      optimizer_registry().make(made.loaded.config.optimizer, made.model->parameters());
  for (int64_t i = 0; i < made.loaded.config.train.steps; ++i) {
    train_step(*made.model, *made.loaded.task, *optimizer, made.loaded.config.train,
               optimizer->base_lr());
  }
  return made;
}

inline Answer ask(const Trained& run, const std::string& prompt) {
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
