#include "train/config/run_config.h"

#include "autograd/base/modes.h"
#include "autograd/base/rethrow.h"
#include "autograd/kernels/blas_info.h"
#include "autograd/kernels/choice.h"
#include "autograd/kernels/openblas.h"
#include "autograd/random/streams.h"
#include "autograd/threads/machine.h"
#include "layers/config/describe.h"
#include "layers/config/read.h"
#include "layers/config/values.h"
#include "layers/module/anomaly.h"
#include "train/config/checks_between_sections.h"
#include "train/config/data_and_model.h"
#include "train/config/resolve.h"
#include "train/config/run_hooks.h"
#include "train/files/files.h"
#include "train/files/human_readable.h"
#include "train/optim/optimizer.h"
#include "train/optim/schedule.h"
#include "train/yaml/yaml.h"
#include "train/yaml/yaml_set.h"

namespace heed {

namespace fs = std::filesystem;

void RandomConfig::fields(Fields& f) {
  f.choice("generators", generators, {"separate", "single"},
           "separate: one generator a purpose; single: one for initialisation, data and dropout");
  f.choice("dropout_stream", dropout_stream, {"mcg31", "mt19937"},
           "whose dropout masks: PyTorch's up to 2.6 on Linux (mcg31), or since (mt19937)");
}

void TrainConfig::fields(Fields& f) {
  const auto size = [&](const char* name, int64_t& member, Range range,
                        const char* help) -> FieldInfo& {
    if (required) return f.required(name, member, range, help);
    range.min = 0;
    return f.optional(name, member, range, help);
  };
  size("steps", steps, at_least(1), "optimizer steps").may_change();
  size("batch_size", batch_size, in_range(1, 1'000'000), "sequences in a micro-batch");
  f.optional("accumulate", accumulate, in_range(1, 1'000'000),
             "micro-batches whose gradients make a step");
  f.optional("clip_grad_norm", clip_grad_norm, above(0), "largest norm of all gradients together");
  f.optional("max_seconds", max_seconds, above(0),
             "after which the run saves and ends; --resume goes on, for as long again")
      .may_change();
  f.optional("log_every", log_every, at_least(1), "steps between rows in metrics.csv").may_change();
  f.optional(
      "overfit_batch", overfit_batch,
      "true: one batch again and again, without dropout, to see whether the model can learn");
  f.choice("recompute", recompute, {"none", "blocks"},
           "blocks: all but the last keep their input alone and run again in the backward pass; "
           "the same bits in less memory, a step takes up to a third longer")
      .may_change();
  extra.own_fields(f);
}

void EvalConfig::fields(Fields& f) {
  f.optional("every", every, at_least(1), "steps between evaluations");
  f.optional("batches", batches, at_least(1), "batches of an evaluation", "all");
  f.optional("patience", patience, at_least(1),
             "evaluations in a row without a lower loss after which training stops");
  extra.own_fields(f);
}

void CheckpointConfig::fields(Fields& f) {
  f.optional("every", every, at_least(1),
             "steps between checkpoints; the last step has one anyway");
  f.optional("keep", keep, at_least(1), "how many of the newest stay");
  f.optional("best", best,
             "true: one more is written and stays, that with the lowest validation loss");
  f.optional("optimizer_state", optimizer_state, "false: weights only, training cannot go on");
  extra.own_fields(f);
}

void SampleConfig::fields(Fields& f) {
  f.optional("every", every, at_least(1), "steps between samples");
  f.optional("prompt", prompt, "what the model continues");
  f.optional("tokens", tokens, at_least(1), "how many tokens it adds");
  f.optional("temperature", temperature, at_least(0),
             "below 1 more cautious, above 1 bolder, 0 always the likeliest token");
  f.optional("top_k", top_k, at_least(1), "choose among the k likeliest");
  f.optional("top_p", top_p, in_range(0, 1, Bound::open), "choose among the likeliest with sum p");
  f.optional("end", end, at_least(0), "ids of tokens that end a text, for heed generate too: [0]");
}

void RunConfig::fields(Fields& f) {
  const bool may_be_absent = purpose == Purpose::model;
  train.required = !may_be_absent;
  f.optional("seed", seed, at_least(0), "random seed");
  f.choice("precision", precision, {"float32", "float64"}, "floating-point type");
  f.optional("fused", fused, "false: the composed forms of fused operations, to read and compare");
  f.optional("anomaly", anomaly, "look at every value; name the first NaN or infinity")
      .may_change();
  f.group("random", random, "one generator or three");
  f.section("data", data, "task", "what to train on", {}, may_be_absent).likely("text");
  f.section("model", model, "layer", "what to train").likely("gpt");
  f.section("optimizer", optimizer, "optimizer", "how gradients change weights");
  f.section("schedule", schedule, "schedule", "the learning rate over the run");
  f.group("train", train, "how long and in what pieces");
  f.group("eval", eval, "validation on the way").may_change();
  f.group("checkpoint", checkpoint, "what is kept").may_change();
  f.group("sample", sample, "text written on the way").may_change();
  extra.own_fields(f);
}

namespace {

void fill_registries() {
  layer_registry(), optimizer_registry(), schedule_registry(), task_registry();
  tokenizer_registry();
}

}  // namespace

std::vector<FieldInfo> run_fields() {
  fill_registries();
  std::vector<FieldInfo> fields = list_fields<RunConfig>();
  for (FieldInfo& info : fields) {
    if (info.name == "model") {
      info.fills = sized_by_data;
    } else if (info.name == "data") {
      info.fills = {"context_length"};
    }
  }
  return fields;
}

int64_t RunConfig::context_length() const {
  for (const Choice* section : {&model, &data}) {
    if (const auto* length = section->find<int64_t>("context_length")) {
      return *length;
    }
  }
  return 0;
}

namespace {

// Sets the dropout of a layer to 0, of the layers chosen inside it, and of others in its list.
void turn_off_dropout(Choice& layer) {
  for (Field& field : fields_of(layer.own_config())) {
    if (auto* number = member_of<double>(field); number && field.info.name == "dropout") {
      *number = 0;
    } else if (auto* part = member_of<Choice>(field); part && *part) {
      turn_off_dropout(*part);
    } else if (auto* parts = member_of<std::vector<Choice>>(field)) {
      for (Choice& each : *parts) turn_off_dropout(each);
    }
  }
  for (Choice& other : layer.others) turn_off_dropout(other);
}

// Throws all mistakes, if there are any, with those of files that cannot be read.
void throw_all(ConfigErrors& errors, const ConfigErrors& unreadable) {
  if (errors.empty() && !unreadable.empty()) {
    throw UnreadableFiles(unreadable.exception());
  }
  for (const ConfigMistake& mistake : unreadable.all()) {
    errors.add(mistake);
  }
  errors.throw_if_any();
}

// An empty name would be that of the config's folder. Only a text may have no file: an imported
// model can be asked without one.
void check_file_names(const ConfigNode& data, ConfigErrors& errors) {
  const ConfigNode& tokenizer = data.get("tokenizer");
  for (const ConfigNode* const section : {&data, &tokenizer}) {
    const ConfigNode& path = section->get("path");
    if (path.is_scalar() && path.text().empty() &&
        (section == &tokenizer || data.get("type").text() != "text")) {
      errors.add_field(*section, "path", "expected the name of a file, got nothing");
    }
  }
}

// The vocabularies of the data are those of the checkpoint that is loaded or, where training
// starts from something else, its.
TaskSetup task_setup(const RunConfig& config, const ConfigNode& model, const fs::path& folder,
                     const fs::path& checkpoint) {
  const bool tests = config.purpose == Purpose::test;
  const int64_t most = tests ? INT32_MAX : 1000;  // tokens, of a model without a limit
  const bool trains = config.purpose == Purpose::train, begins = checkpoint.empty() && trains;
  fs::path vocabulary = checkpoint;
  for_each_hook([&](const RunHooks& each) {
    if (vocabulary.empty() && begins) vocabulary = each.vocabularies(config, folder);
  });
  return {.config_folder = folder,
          .checkpoint = checkpoint,
          .vocabulary = vocabulary,
          .data = tests                          ? TaskSetup::Data::fitted
                  : trains || checkpoint.empty() ? TaskSetup::Data::needed
                                                 : TaskSetup::Data::wanted,
          .context_length = whole_number(model.get("context_length")).value_or(most),
          .source_length = whole_number(model.get("source_length")).value_or(most),
          .model = model,
          .seed = static_cast<uint64_t>(config.seed),
          .batch_size = config.train.batch_size};
}

// In two passes: the data, of which a task is made; then the model, with the sizes that it says.
void read_sections(LoadedRun& run, const ConfigNode& tree, const fs::path& folder,
                   const fs::path& checkpoint, ConfigErrors& errors, ConfigErrors& unreadable) {
  RunConfig& config = run.config;
  StructReader reader(config_ref(config), tree, errors);
  reader.read_values();
  const int64_t before = errors.count();
  reader.read_part("data", sizes_for_data(tree));
  check_file_names(tree.get("data"), errors);
  if (config.data && errors.count() == before) {
    run.task =
        make_task(tree, config.data, task_setup(config, tree.get("model"), folder, checkpoint),
                  errors, unreadable);
  }
  reader.read_part("model", sizes_for_model(tree, run.task.get()), run.task != nullptr);
  reader.finish();
  check_sizes(tree, config.data, config.model, run.task.get(), errors);
}

// Gives the parts of `to` the places of the parts of `from` at the same path.
void copy_marks(const ConfigNode& from, ConfigNode& to) {
  for (int64_t k = 0; k < to.size(); ++k) {
    const bool is_map = to.is_map();
    const ConfigNode* const part = is_map            ? from.find(to.at(k).key())
                                   : k < from.size() ? &from.at(k)
                                                     : nullptr;
    if (part != nullptr) {
      copy_marks(*part, to.at(k));
    }
  }
  to.set_mark(from.mark());
}

// Leaves out of a run's config, which heed wrote, what was no more than a switch that is off and is
// no key any more.
void bring_up_to_date(ConfigNode& config) {
  for (const FieldInfo& section : run_fields()) {
    const ConfigNode written = config.get(section.name);
    for (const ConfigNode& child : written.children()) {
      const bool is_known =
          section.group.empty() || find_field(section.group, child.key()) != nullptr;
      if (!is_known && child.text() == "false") config.find(section.name)->erase(child.key());
    }
  }
}

}  // namespace

RunTree read_run_tree(const fs::path& config, const std::vector<std::string>& sets) {
  ConfigErrors errors;
  ConfigNode root = read_config(config.string(), errors);
  const fs::path folder = config.parent_path();
  if (config.filename() == stored_config && root.has("precision") && root.has("sample") &&
      (is_there(folder / run_checkpoints) || is_there(folder / stored_manifest))) {
    bring_up_to_date(root);  // that of a run or a checkpoint: heed wrote it, with every section
  }
  for (const std::string& argument : sets) {
    apply_set(root, argument, errors);
    if (argument.find('=') != std::string::npos) {
      make_set_paths_absolute(root, argument.substr(0, argument.find('=')));
    }
  }
  return {std::move(root), std::move(errors)};
}

LoadedRun load_run(RunTree tree_and_mistakes, const fs::path& folder, Purpose purpose,
                   const fs::path& checkpoint) {
  fill_registries();
  ConfigNode& tree = tree_and_mistakes.root;
  ConfigErrors& errors = tree_and_mistakes.mistakes;
  ConfigErrors unreadable;  // files
  const int64_t before = errors.count();
  for_each_hook([&](RunHooks& each) {
    const auto wrong = error_of<IoError>([&] { each.before_reading(tree, folder, errors); });
    if (wrong) add_lines(unreadable, *wrong);
  });
  const bool not_all_types = !unreadable.empty() || errors.count() > before;
  LoadedRun run;
  run.checkpoint = checkpoint;
  run.config.purpose = purpose;
  share_context_length(tree);
  read_sections(run, tree, folder, checkpoint, errors, unreadable);
  if (!errors.empty()) {
    find_other_places(run.config, errors);
  }
  check_together(run.config, tree, run.task.get(), errors);
  if (!errors.are_within("train")) {
    for_each_hook(
        [&](const RunHooks& each) { each.find_files(run, tree, folder, checkpoint, unreadable); });
  }
  excuse_aliases(errors);
  if (not_all_types) {
    excuse_unknown_types(errors);
  }
  throw_all(errors, unreadable);

  if (run.config.train.overfit_batch) {
    turn_off_dropout(run.config.model);
  }
  run.resolved = write_struct(config_ref(run.config));
  for (const char* section : {"model", "optimizer", "train"}) {
    copy_marks(tree.get(section), *run.resolved.find(section));
  }
  if (run.task) resolve_data(*run.resolved.find("data"), folder, *run.task);
  for_each_hook([&](const RunHooks& each) { each.resolve(run, folder); });
  return run;
}

std::string LoadedRun::data_description() const {
  return task->description() + (config.train.overfit_batch ? ", one batch of it" : "");
}

std::map<std::string, std::string> LoadedRun::texts() const {
  std::map<std::string, std::string> all{{stored_config, to_yaml(resolved)}};
  if (task) {
    all.merge(stored_tokenizers(*task));
  }
  return all;
}

std::map<std::string, std::string> LoadedRun::made_with() const {
  const detail::KernelEntry& kernel = detail::kernel_in_use();
  const auto rounding = [](Simd unit) { return unit < Simd::avx2 ? simd_name(unit) : "fused"; };
  std::map<std::string, std::string> all{
      {"heedgrad", HEED_VERSION},
      {"kernels", kernel.products == &detail::openblas_products
                      ? text("OpenBLAS for ", blas_info().kernel)
                      : text("our own, ", rounding(kernel.needs))},
      {"loops", rounding(compiled_simd())}};
  for_each_hook([&](const RunHooks& each) { all.merge(each.made_with(*this)); });
  return all;
}

std::string LoadedRun::program() const {
  std::string words = "heed";
  for_each_hook([&](const RunHooks& each) { words += each.options(*this); });
  return words;
}

ConfigNode with_defaults(const ConfigNode& resolved) {
  ConfigNode config = resolved;
  bring_up_to_date(config);
  return write_fields(read_fields<RunConfig>(config));
}

void apply_settings(const RunConfig& config) {
  set_fused(config.fused);
  set_anomaly_mode(config.anomaly);
  manual_seed(static_cast<uint64_t>(config.seed), generators_from(config.random.generators),
              dropout_stream_from(config.random.dropout_stream));
}

}  // namespace heed
