#include "tools/commands/run.h"

#include <cstdio>

namespace heed::cli {

void require_precision_of(const RunTree& config) {
  const std::string& precision = config.root.get("precision").text();
  if (precision == "float32" || precision == "float64") {
    require_precision(precision);
  }
}

TrainedRun load_trained(const std::string& run) {
  std::vector<std::string> warnings;
  const RunArgument argument = resolve_run(run, warnings);
  RunTree tree = read_run_tree(argument.run / "config.yaml");
  require_precision_of(tree);
  for (const std::string& warning : warnings) {
    std::fprintf(stderr, "%s\n", warning.c_str());
  }
  TrainedRun trained{.loaded = load_run(std::move(tree), argument.run), .model = {}, .state = {}};
  apply_settings(trained.loaded.config);
  trained.model = make_layer(trained.loaded.config.model);
  trained.model->train(false);
  trained.state = load_checkpoint(argument.checkpoint, *trained.model, nullptr);
  return trained;
}

}  // namespace heed::cli
