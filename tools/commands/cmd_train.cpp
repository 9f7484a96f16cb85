// heed train: trains the model of a config, or resumes a run.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "autograd/array/shape.h"
#include "autograd/threads/machine.h"
#include "layers/config/fields.h"
#include "layers/config/left_out.h"
#include "layers/text/formatted.h"
#include "tools/commands/config_file.h"
#include "tools/commands/run.h"
#include "tools/commands/run_files.h"
#include "tools/commands/threads_that_pay.h"
#include "tools/commands/train_ending.h"
#include "tools/terminal/table.h"
#include "train/files/human_readable.h"
#include "train/optim/schedule.h"
#include "train/run/resume.h"
#include "train/run_hooks.h"
#include "train/trainer.h"
#include "train/workers.h"
#include "train/yaml/yaml.h"

namespace heed::cli {

namespace {

namespace fs = std::filesystem;

struct TrainOptions {
  std::string config;
  std::vector<std::string> sets;
  std::optional<std::string> out;
  std::optional<std::string> resume;
  std::optional<std::string> weights;
  std::optional<double> max_seconds;
  bool dry_run = false;
  bool overfit_batch = false;
  bool strict = false;
  bool json = false;
};

void declare(Arguments& arguments, TrainOptions& o) {
  arguments
      .config("CONFIG", o.config, "a config, a text or a folder of texts; not with --resume", false)
      .option("--set", o.sets,
              "change a value: --set optimizer.lr=3e-4; may be repeated, the last one counts")
      .option("--out", o.out, "the run folder (default: runs/<config name>)")
      .path()
      .option("--resume", o.resume, "go on with this run from its newest good checkpoint")
      .path()
      .option("--weights", o.weights,
              "start from those of a run, a checkpoint, a safetensors file, a Hugging Face folder")
      .path()
      .threads()
      .option("--max-seconds", o.max_seconds, "save and stop after this time", above(0))
      .flag("--dry-run", o.dry_run, "print the whole plan and stop")
      .flag("--strict", o.strict, "do not train with warnings about the config")
      .flag("--overfit-batch", o.overfit_batch, "train on one batch again and again, no dropout")
      .flag("--json", o.json, "a JSON object a line: the plan, the rows of metrics.csv, the end");
}

// The run to resume, with its checkpoint; one that ended before its first checkpoint starts again.
// It is locked first (`folder`; not for a dry run), since another process may be about to save.
RunArgument run_to_resume(const TrainOptions& o, std::optional<RunFolder>& folder,
                          std::vector<std::string>& warnings) {
  const std::string argument = unpacked(*o.resume);
  const RunArgument parsed = parse_run(argument);
  require<ConfigError>(!parsed.is_copy(), "heed train: --resume ", argument,
                       ": a copy of a checkpoint; expected a run folder, or checkpoints/step-* in "
                       "one");
  if (!o.dry_run) {
    folder.emplace(RunFolder::open(parsed.run));
  }
  if (never_saved(argument)) {
    warnings.push_back(argument + " has no checkpoint yet: it begins again");
    return parsed;
  }
  RunArgument resumed = resolve_run(argument, warnings);
  require<IoError>(
      read_manifest(resumed.checkpoint).files.contains(stored_optimizer), argument,
      ": has weights alone, and no optimizer state to go on with; heed train CONFIG --weights ",
      argument, " starts from its weights");
  if (o.dry_run) {  // otherwise the trainer prints it
    const std::string removed = going_back(resumed.run, read_manifest(resumed.checkpoint).step);
    warnings.insert(warnings.end(), removed.empty() ? 0 : 1, removed);
  }
  return resumed;
}

// The config that the run has been trained with.
fs::path config_before(const RunArgument& resumed) {
  return resumed.checkpoint.empty() ? resumed.run / "config.yaml"
                                    : config_of_checkpoint(resumed.checkpoint);
}

// The learning rates before and after a checkpoint at `step`, if train.steps has changed since, and
// the schedule with it; else "". base_lr: of the optimizer.
std::string rate_jump(const fs::path& of_run, const LoadedRun& resumed, int64_t step,
                      double base_lr) {
  const ConfigNode train = with_defaults(read_config(of_run.string())).get("train");
  const int64_t before = std::strtoll(train.get("steps").text().c_str(), nullptr, 10);
  const int64_t now = resumed.config.train.steps;
  const auto lr = [&](int64_t steps, int64_t at) {
    return schedule_registry().make(resumed.config.schedule, ScheduleSetup{base_lr, steps})->lr(at);
  };
  if (step == 0 || before < step || step >= now || lr(before, step) == lr(now, step)) {
    return "";
  }
  return text("schedule   the learning rate jumps from ", formatted("%.3g", lr(before, step)),
              " at step ", step, " to ", formatted("%.3g", lr(now, step + 1)), ": ",
              resumed.config.schedule.type(), " over ", now, " steps, no longer ", before);
}

// The config to read, and the base folder of its relative paths.
struct Source {
  RunTree tree;
  fs::path folder;
  bool is_text = false;  // the config is quickstart's, on what the command line names
};

Source read_source(const TrainOptions& o, const std::optional<RunArgument>& resumed) {
  std::vector<std::string> sets = o.sets;
  const fs::path config =
      o.config.empty() ? resumed->run / "config.yaml" : config_for_text(o.config, sets);
  if (o.overfit_batch) {
    sets.emplace_back("train.overfit_batch=true");
  }
  Source source{read_run_tree(config, sets), config.parent_path(),
                !o.config.empty() && config != o.config};
  if (o.weights) {
    ConfigNode train = source.tree.root.get("train");
    train.set("weights", fs::absolute(unpacked(*o.weights)).lexically_normal().string());
    source.tree.root.set("train", train);
  }
  return source;
}

void check(const TrainOptions& o) {
  require_once("heed train", "--overfit-batch", o.overfit_batch, o.sets, "train.overfit_batch");
  require_once("heed train", "--weights", o.weights.has_value(), o.sets, "train.weights");
  require_once("heed train", "--max-seconds", o.max_seconds.has_value(), o.sets,
               "train.max_seconds");
  require<ConfigError>(!o.config.empty() || o.resume, "heed train: expected a CONFIG, or --resume ",
                       "with a run folder");
  require<ConfigError>(!o.resume || !o.out, "heed train: a resumed run stays in its folder; give ",
                       "--resume or --out");
  require<ConfigError>(!o.resume || !o.weights, "heed train: a resumed run continues with its own ",
                       "weights; give --resume or --weights");
  if (o.out) {
    require_outside_runs("heed train: --out", *o.out);
  }
}

// Before it meets others, each worker becomes the program of the config's precision.
void join(const TrainOptions& o, Workers& workers) {
  if (workers.launched()) {
    const auto run = o.resume ? std::optional(parse_run(*o.resume)) : std::nullopt;
    require_precision_of(read_source(o, run).tree);
  }
  workers.join(o.resume ? "heed train --resume" : "heed train");
}

// Rank 0 locks and looks; the others take the checkpoint that it has found. They see the same
// folder.
std::optional<RunArgument> find_resumed(const TrainOptions& o, Workers& workers,
                                        std::optional<RunFolder>& folder,
                                        std::vector<std::string>& warnings) {
  if (!o.resume) {
    return std::nullopt;
  }
  RunArgument found = workers.leads() ? run_to_resume(o, folder, warnings) : parse_run(*o.resume);
  found.checkpoint = workers.agree(found.checkpoint.string());
  return found;
}

using Hooks = std::vector<std::unique_ptr<RunHooks>>;

// What prints is for --json.
Hooks hooks_for(const TrainOptions& o) {
  Hooks all = run_hooks_registry().make_all();
  const auto prints = [](const auto& each) { return each->prints(); };
  require<ConfigError>(!o.json || std::any_of(all.begin(), all.end(), prints),
                       "heed train: --json: this build has none",
                       belongs_to_extra("run_hooks", "events"));
  std::erase_if(all, [&](const auto& each) { return !o.json && prints(each); });
  return all;
}

// Rank 0: trains, writes the run folder and what is said.
Ending train_and_write(const TrainOptions& o, LoadedRun loaded, const Plan& plan, RunFolder folder,
                       const std::optional<fs::path>& checkpoint, Workers& workers,
                       const Hooks& hooks, std::vector<std::string> lines) {
  const int64_t steps = loaded.config.train.steps;
  lines.push_back("run folder " + folder.path().string());
  NextSteps next = {
      .run = folder.path(),
      .program = loaded.program(),
      .generates = loaded.task->tokenizer() != nullptr && loaded.task->continues_prompt(),
      .prompt = loaded.config.sample.prompt,
      .set = {text("train.steps=", saturated_product(2, steps))}};
  Trainer trainer(std::move(loaded), std::move(folder), checkpoint, workers);
  for (const std::unique_ptr<RunHooks>& each : hooks) {
    each->on_plan(plan, trainer.run(), next.run, trainer.step());
    trainer.add_hooks(*each);
  }
  const bool on_terminal = isatty(STDERR_FILENO) != 0;
  // A terminal leaves the details to log.txt and --dry-run.
  const auto say = [&](const std::string& line) {
    const bool is_detail =
        line.starts_with("step ") || line.starts_with("memory ") || line.starts_with("threads ");
    if (on_terminal && is_detail) {
      trainer.log(line);
    } else {
      trainer.say(line);
    }
  };
  std::for_each(lines.begin(), lines.end(), say);
  if (trainer.step() >= steps && !trainer.state().evaluation_due && !trainer.state().sample_due) {
    trainer.say(text("nothing to do: all ", steps, " steps are done; --set train.steps=N goes on"));
  }
  const int64_t before = trainer.step();
  const Ending ending = trainer.train(o.max_seconds);
  say("memory     peak " + bytes_text(peak_resident_bytes()) +
      (trainer.step() > before ? " (" + bytes_text(plan.total_bytes()) + " planned)" : ""));
  const RunInTraining ended{next.run, trainer.run(), trainer.model()};
  for (const std::unique_ptr<RunHooks>& each : hooks) {
    each->on_ended(ending, trainer.step());
    next.looks.push_back(each->way_to_look(ended));
  }
  std::erase(next.looks, "");
  say_ending(trainer, ending, std::move(next));
  return ending;
}

// Data without a batch, as that of an imported model, says so before anything is written.
void require_batches(Task& task) {
  const std::vector<int64_t> position = task.data().position();
  Generator any(0);
  task.data().next(1, any);
  task.data().set_position(position);
}

int train(const TrainOptions& o, Workers& workers) {
  join(o, workers);
  std::vector<std::string> warnings;
  std::optional<RunFolder> folder;
  const std::optional<RunArgument> resumed = find_resumed(o, workers, folder, warnings);
  Source source = read_source(o, resumed);
  require_precision_of(source.tree);
  LoadedRun loaded = load_run(std::move(source.tree), source.folder, Purpose::train,
                              resumed ? resumed->checkpoint : fs::path());
  if (resumed) {
    require_resumable(config_before(*resumed), loaded.resolved);
  }
  const Placement known = workers.compare(loaded);
  Plan plan = make_plan(loaded, workers);
  require_memory(plan, known.on_this_host);
  if (o.strict) require_no_warnings(plan);
  if (resumed && !resumed->checkpoint.empty() && workers.leads()) {
    const int64_t step = read_manifest(resumed->checkpoint).step;
    const std::string jump = rate_jump(config_before(*resumed), loaded, step, plan.base_lr);
    warnings.insert(warnings.begin(), jump.empty() ? 0 : 1, jump);
  }
  if (workers.size() == 1) {
    plan.fewer_threads = use_threads_that_pay(plan.flops_per_step);
  }
  std::vector<std::string> lines = describe(plan, loaded);
  if (source.is_text) lines.insert(lines.begin(), quickstart_note);
  lines.insert(lines.begin(), known.plan_lines.begin(), known.plan_lines.end());
  lines.insert(lines.end(), warnings.begin(), warnings.end());
  plan.warnings.insert(plan.warnings.end(), warnings.begin(), warnings.end());
  const Hooks hooks = workers.leads() ? hooks_for(o) : Hooks();
  if (o.dry_run) {
    for (const std::unique_ptr<RunHooks>& each : hooks) {
      each->on_plan(plan, loaded, "", 0);
    }
    if (workers.leads() && !o.json) {
      print_lines(stdout, lines);
    }
    workers.leave();
    return 0;
  }

  require_batches(*loaded.task);
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe must not end the run
  const std::optional<fs::path> checkpoint =
      resumed && !resumed->checkpoint.empty() ? std::optional(resumed->checkpoint) : std::nullopt;
  Ending ending = Ending::finished;
  if (workers.leads()) {
    if (!folder) {
      const fs::path named = (fs::absolute(o.config) / "").lexically_normal();  // maybe a folder
      folder.emplace(RunFolder::create(o.out, named.parent_path().stem().string()));
    }
    ending = train_and_write(o, std::move(loaded), plan, std::move(*folder), checkpoint, workers,
                             hooks, std::move(lines));
  } else {
    ending = Trainer(std::move(loaded), std::nullopt, checkpoint, workers).train();
  }
  workers.leave();
  return ending == Ending::interrupted ? 130 : 0;
}

int run(const TrainOptions& o) {
  check(o);
  return run_with_workers([&](Workers& workers) { return train(o, workers); });
}

}  // namespace

Command train_command() {
  return with_workers(command<TrainOptions>("train", "train a model as a config says",
                                            "heed train quickstart --set train.steps=500", declare,
                                            run, Group::train));
}

}  // namespace heed::cli
