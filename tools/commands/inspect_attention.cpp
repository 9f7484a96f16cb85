#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tools/commands/inspect.h"
#include "tools/commands/run.h"
#include "tools/terminal/heat_map.h"
#include "train/data/generate.h"

namespace heed::cli {

namespace {

namespace fs = std::filesystem;
using LookJson = nlohmann::ordered_json;

// The model of a config before training.
TrainedRun untrained(const LookAt& look) {
  const fs::path config = look.target;
  ConfigNode tree = read_run_tree(config, look.sets);
  require_precision_of(tree);
  TrainedRun run{load_run(std::move(tree), config.parent_path(), Purpose::model), {}, {}};
  apply_settings(run.loaded.config);
  run.model = make_layer(run.loaded.config.model);
  run.model->train(false);
  return run;
}

TrainedRun model_of(const LookAt& look) {
  if (!fs::is_directory(look.target)) {
    return untrained(look);
  }
  require<ConfigError>(look.sets.empty(), "heed inspect: --set changes a config; ", look.target,
                       " is a run, which is as it was trained");
  return load_trained(look.target);
}

// For text tasks, shows the prompt only; does not generate.
Exhibit asked(const TrainedRun& run, const std::string& prompt) {
  const Task& task = *run.loaded.task;
  require<ConfigError>(task.tokenizer() != nullptr,
                       "heed inspect: --prompt: ", run.loaded.config.data.type,
                       " has no text to ask in");
  try {
    task.check_prompt(prompt);
  } catch (const ConfigError& error) {
    fail<ConfigError>("heed inspect: --prompt: ", error.what());
  }
  const AnswerOptions options{.tokens = 0, .context_length = run.loaded.config.context_length()};
  const Answer answer = task.answer(*run.model, prompt, options);
  return {prompt, answer.text, answer.shown};
}

LookJson as_json(const AttentionMap& map) {
  const int64_t heads = map.weights.dim(0), rows = map.weights.dim(1), columns = map.weights.dim(2);
  LookJson weights = LookJson::array();
  for (int64_t h = 0; h < heads; ++h) {
    LookJson head = LookJson::array();
    for (int64_t t = 0; t < rows; ++t) {
      const real* row = map.weights.data() + (h * rows + t) * columns;
      head.push_back(std::vector<real>(row, row + columns));
    }
    weights.push_back(std::move(head));
  }
  return {{"layer", map.path},
          {"cross", map.cross},
          {"queries", map.queries},
          {"keys", map.keys},
          {"weights", std::move(weights)}};
}

}  // namespace

int inspect_attention(const LookAt& look) {
  const TrainedRun run = model_of(look);
  require<ConfigError>(run.loaded.task != nullptr, look.target,
                       ": attention needs a data section, for the tokens that are looked at");
  const Task& task = *run.loaded.task;
  const Exhibit exhibit =
      look.prompt ? asked(run, *look.prompt) : heed::exhibit(*run.model, task, run.loaded.config);
  const std::vector<AttentionMap> maps = attention_maps(*run.model, task, exhibit.shown);
  require<ConfigError>(!maps.empty(), look.target, ": no layer of this model attends");
  if (look.json) {
    LookJson layers = LookJson::array();
    for (const AttentionMap& map : maps) {
      layers.push_back(as_json(map));
    }
    const LookJson out{{"step", run.state.step},
                       {"prompt", exhibit.prompt},
                       {"answer", exhibit.answer},
                       {"layers", std::move(layers)}};
    std::printf("%s\n", out.dump(-1, ' ', false, LookJson::error_handler_t::replace).c_str());
    return 0;
  }
  const HeatMapStyle style = style_of_terminal();
  if (!exhibit.prompt.empty()) {
    std::printf("prompt  %s\n", printable(exhibit.prompt, 200).c_str());
  }
  if (!exhibit.answer.empty()) {
    std::printf("answer  %s\n", printable(exhibit.answer, 200).c_str());
  }
  for (const AttentionMap& map : maps) {
    std::printf("\n%s", heat_map_text(map, style).c_str());
  }
  std::printf("\n%s", heat_map_scale(style).c_str());
  return 0;
}

}  // namespace heed::cli
