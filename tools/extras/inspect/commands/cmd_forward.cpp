// heed forward: runs a layer or model on given tensors, for comparison with other programs.
#include <cstdio>
#include <filesystem>

#include "layers/config/fields.h"
#include "tools/commands/config_file.h"
#include "tools/commands/run.h"
#include "tools/extras/inspect/forward.h"
#include "tools/extras/report/pages/output_file.h"
#include "tools/terminal/table.h"
#include "train/checkpoint/checkpoint.h"
#include "train/config/run_config.h"
#include "train/config/run_hooks.h"
#include "train/run/resume.h"

namespace heed::cli {

namespace {

struct ForwardOptions {
  std::string config;
  std::string in;
  std::string out;
  std::vector<std::string> sets;
  std::optional<std::string> weights;
  std::optional<std::string> save_weights;
  std::optional<int64_t> seed;
  std::optional<std::string> precision;
  bool ignore_extra = false;
  bool book_buffers = false;
  bool backward = false;
  bool train = false;
};

void declare(Arguments& arguments, ForwardOptions& o) {
  arguments
      .config("CONFIG", o.config, "a YAML file with a model: section, or a run (with its weights)")
      .required_option("--in", o.in, "safetensors: x or ids; mask and dy where wanted")
      .path()
      .required_option("--out", o.out, "safetensors: y; with --backward grad.x, grad.<parameter>")
      .path()
      .option("--weights", o.weights,
              "safetensors: the parameters; else those of the run, or drawn from the seed")
      .path()
      .flag("--ignore-extra", o.ignore_extra, "--weights may hold more than the model needs")
      .option("--save-weights", o.save_weights, "write the parameters to this file")
      .path()
      .flag("--book-buffers", o.book_buffers, "with the mask buffers of the book's modules")
      .flag("--backward", o.backward, "gradients for the cotangent dy, ones if it is absent")
      .flag("--train", o.train, "dropout on")
      .option("--seed", o.seed, "of parameters and dropout (default: the config's, or 123)",
              at_least(0))
      .option("--precision", o.precision, "float32 or float64 (default: the config's)")
      .offers({{"float32", ""}, {"float64", ""}})
      .option("--set", o.sets,
              "change a value: --set model.dropout=0.1; may be repeated, the last one counts")
      .threads();
}

std::string wanted_precision(const ForwardOptions& o, const RunTree& tree) {
  if (o.precision) {
    require<ConfigError>(*o.precision == "float32" || *o.precision == "float64",
                         "heed forward: expected --precision float32 or float64, got ",
                         printable(*o.precision));
    return *o.precision;
  }
  return tree.root.get("precision").text() == "float64" ? "float64" : "float32";
}

// The config of a model, or the run whose model it is.
struct ModelSource {
  std::filesystem::path config;
  std::filesystem::path checkpoint;  // of a run; else ""
};

ModelSource source_of(const std::string& argument) {
  if (std::error_code error; !std::filesystem::is_directory(argument, error)) {
    return {argument, {}};
  }
  std::vector<std::string> warnings;
  const RunArgument run = resolve_run(argument, warnings);
  print_lines(stderr, warnings);
  return {run.run / "config.yaml", run.checkpoint};
}

void check_outputs(const ForwardOptions& o, const ModelSource& source, const ConfigNode& config) {
  std::vector<InputFile> inputs = files_named_in(config, source.config.parent_path());
  inputs.push_back({"the config", source.config});
  inputs.push_back({"--in", o.in});
  if (o.weights) {
    inputs.push_back({"--weights", *o.weights});
  }
  require_replaceable("heed forward: --out", o.out, inputs);
  if (o.save_weights) {
    require_replaceable("heed forward: --save-weights", *o.save_weights, inputs);
  }
}

int run(const ForwardOptions& o) {
  require<ConfigError>(!o.ignore_extra || o.weights,
                       "heed forward: --ignore-extra is about --weights, which is not given");
  require<ConfigError>(!o.book_buffers || o.save_weights,
                       "heed forward: --book-buffers is about --save-weights, which is not given");
  require<ConfigError>(!o.save_weights || !same_file(o.out, *o.save_weights),
                       "heed forward: --out and --save-weights are the same file, ",
                       printable(o.out), "; give two");
  require_once("heed forward", "--precision", o.precision.has_value(), o.sets, "precision");
  require_once("heed forward", "--seed", o.seed.has_value(), o.sets, "seed");
  const ModelSource source = source_of(o.config);
  const bool is_run = !o.weights && !source.checkpoint.empty();
  for (const std::string& set : is_run ? o.sets : std::vector<std::string>()) {
    if (set.starts_with("model.")) {
      print_line(stderr, text("--set ", printable(set), ": not as the run was trained"));
    }
  }
  RunTree tree = read_run_tree(source.config, o.sets);
  check_outputs(o, source, tree.root);
  compute_in(wanted_precision(o, tree));
  LoadedRun loaded =
      load_run(std::move(tree), source.config.parent_path(), Purpose::model, source.checkpoint);
  if (!source.checkpoint.empty() && o.sets.empty()) {
    require_same_model(source.checkpoint / "config.yaml", source.config, loaded.resolved);
  }
  require<ConfigError>(!o.seed || o.train || !(o.weights || is_run),
                       "heed forward: --seed has no effect on given weights without --train, whose "
                       "dropout it draws; leave it out");
  ForwardJob job{.in = o.in, .out = o.out, .weights = o.weights, .save_weights = o.save_weights};
  if (is_run && loaded.resolved.get("train").has("lora")) {
    job.trained = load_to_ask(o.config, o.sets).model;  // merged into its base
  } else if (is_run) {
    job.weights = source.checkpoint / "model.safetensors";
    job.on_loaded = [&](Module& model) {
      for_each_hook([&](const RunHooks& each) { each.on_loaded(model, loaded); });
    };
  }
  loaded.config.seed = o.seed.value_or(loaded.config.seed);
  apply_settings(loaded.config);

  job.ignore_extra = o.ignore_extra;
  job.book_buffers = o.book_buffers;
  job.backward = o.backward;
  job.train = o.train;
  const std::vector<std::string> written = run_forward(loaded.config.model, job);
  print_line(stdout,
             text(o.out, ": ", written.front(),
                  written.size() > 1 ? text(" and ", written.size() - 1, " gradients") : ""));
  return 0;
}

}  // namespace

Command forward_command() {
  return command<ForwardOptions>(
      "forward", "run a layer or model on given tensors",
      "heed forward model.yaml --in x.safetensors --out y.safetensors --backward", declare, run,
      Group::take_apart);
}

}  // namespace heed::cli
