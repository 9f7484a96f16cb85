#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tools/commands/run.h"
#include "tools/extras/inspect/inspect.h"
#include "tools/extras/inspect/map_picture.h"
#include "tools/extras/inspect/patch_maps.h"
#include "tools/extras/report/pages/answer.h"
#include "tools/extras/report/pages/heat_map.h"
#include "tools/extras/report/pages/output_file.h"
#include "tools/terminal/table.h"
#include "train/data/generate.h"
#include "train/files/files.h"

namespace heed::cli {

namespace {

namespace fs = std::filesystem;
using LookJson = nlohmann::ordered_json;

// The model of a config before training.
TrainedRun untrained(const InspectOptions& look) {
  const fs::path config = look.target;
  RunTree tree = read_run_tree(config, look.sets);
  require_precision_of(tree);
  TrainedRun run{load_run(std::move(tree), config.parent_path(), Purpose::model), {}, {}};
  apply_settings(run.loaded.config);
  run.model = make_layer(run.loaded.config.model);
  run.model->train(false);
  return run;
}

// "trf_blocks.1.att" and "trf_blocks.1.att.heads.0" -> "trf_blocks.1".
std::string block_of(const std::string& path) {
  return path.substr(0, path.find('.', path.find('.') + 1));
}

// The layers and heads that --layer and --head choose. Without --layer, those that have the head,
// of the last block alone if a terminal is to show them.
std::vector<ShownLayer> chosen(const std::vector<AttentionMap>& maps, const InspectOptions& look) {
  const auto count = static_cast<int64_t>(maps.size());
  const bool last_block = !look.all && !look.layer && !look.json && !look.out;
  require<ConfigError>(!look.layer || (*look.layer >= 0 && *look.layer < count),
                       "heed inspect: expected --layer from 0 to ", count - 1, ", got ",
                       look.layer.value_or(0));
  std::vector<ShownLayer> shown;
  int64_t most_heads = 0;
  for (int64_t i = 0; i < count; ++i) {
    const AttentionMap& map = maps[static_cast<size_t>(i)];
    if (look.layer.value_or(i) != i ||
        (last_block && block_of(map.path) != block_of(maps.back().path))) {
      continue;
    }
    const int64_t heads = map.weights.dim(0);
    most_heads = std::max(most_heads, heads);
    if (!look.head) {
      shown.push_back({i, map, {}});
    } else if (*look.head >= 0 && *look.head < heads) {
      shown.push_back({i, map, look.head});
    }
  }
  require<ConfigError>(!shown.empty(), "heed inspect: expected --head from 0 to ", most_heads - 1,
                       ", got ", look.head.value_or(0));
  return shown;
}

LookJson as_json(const ShownLayer& shown) {
  const AttentionMap& map = shown.map;
  LookJson weights = LookJson::array();
  for (int64_t h = shown.first_head(); h < shown.end_head(); ++h) {
    LookJson head = LookJson::array();
    for (int64_t t = 0; t < map.weights.dim(1); ++t) {
      head.push_back(map.row(h, t));
    }
    weights.push_back(std::move(head));
  }
  return {{"layer", map.path},
          {"cross", map.cross},
          {"queries", map.queries},
          {"keys", map.keys},
          {"weights", std::move(weights)}};
}

// Throws ConfigError for a name that is no picture's, and for a file that is needed.
void check_picture(const std::string& out, const fs::path& target, bool is_run,
                   const ConfigNode& config) {
  require<ConfigError>(fs::path(out).extension() == ".svg",
                       "heed inspect: --out: expected a name that ends in .svg, got ",
                       printable(out, 80));
  std::vector<InputFile> inputs =
      files_named_in(config, is_run ? parse_run(target).run : target.parent_path());
  if (!is_run) {
    inputs.push_back({"the config", target});
  }
  require_replaceable("heed inspect: --out", out, inputs);
}

}  // namespace

int inspect_attention(const InspectOptions& look) {
  std::error_code error;
  const bool is_run = fs::is_directory(look.target, error);
  const TrainedRun run = is_run ? load_to_ask(look.target, look.sets) : untrained(look);
  require<ConfigError>(run.loaded.task != nullptr, look.target,
                       ": attention needs a data section, for the tokens that are looked at");
  const Task& task = *run.loaded.task;
  if (look.out) {
    check_picture(*look.out, look.target, is_run, run.loaded.resolved);
  }
  const Exhibit exhibit = asked(run, "heed inspect", look.prompt, look.ids);
  const std::vector<AttentionMap> maps = attention_maps(*run.model, task, exhibit.shown);
  require<ConfigError>(!maps.empty(), look.target, ": no layer of this model attends with weights ",
                       "that a map could show; linear_attention and rwkv_time_mixing keep sums ",
                       "over the tokens, rnn and gru a state, and attention_weights none or sum ",
                       "gives weights outside of 0 to 1");
  const std::vector<ShownLayer> shown = chosen(maps, look);
  const std::optional<PatchGrid> grid = patch_grid(exhibit.shown, shown.front().map.weights.dim(2));
  if (look.out) {
    write_file_atomically(
        *look.out,
        grid ? patch_maps_as_svg(exhibit.shown.x.value(), shown, *grid) : maps_as_svg(shown),
        Links::follow);
    print_line(look.json ? stderr : stdout, written(*look.out));
    if (!look.json) {
      return 0;
    }
  }
  if (look.json) {
    LookJson layers = LookJson::array();
    for (const ShownLayer& one : shown) {
      layers.push_back(as_json(one));
    }
    const LookJson out{{"step", run.state.step},
                       {"prompt", exhibit.prompt},
                       {"answer", exhibit.answer},
                       {"layers", std::move(layers)}};
    print_object(out);
    return 0;
  }
  const HeatMapStyle style = style_of_terminal();
  if (!exhibit.prompt.empty()) {
    print_text("prompt  " + printable(exhibit.prompt, 200) + "\n");
  }
  if (!exhibit.answer.empty()) {
    print_text("answer  " + printable(exhibit.answer, 200) + "\n");
  }
  if (!look.all && !look.layer && shown.size() < maps.size()) {
    print_text(text("layers  those of ", block_of(maps.back().path), "; --all shows all ",
                    maps.size(), ", --layer 0 the first\n"));
  }
  for (const ShownLayer& one : shown) {
    const std::string map = heat_map_text(one.map, style, one.head);
    std::printf("\nlayer %s, %s", text(one.number).c_str(), map.c_str());
  }
  const bool has_future =
      std::any_of(shown.begin(), shown.end(), [](const auto& one) { return is_causal(one.map); });
  std::printf("\n%s", heat_map_scale(style, has_future).c_str());
  return 0;
}

}  // namespace heed::cli
