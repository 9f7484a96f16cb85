#include "tools/extras/report/run_report.h"

#include <algorithm>

#include "autograd/kernels/blas_info.h"
#include "autograd/threads/machine.h"
#include "autograd/threads/parallel.h"
#include "layers/module/evaluation_mode.h"
#include "tools/extras/report/heads.h"
#include "tools/extras/report/page.h"
#include "tools/extras/report/train/keys.h"
#include "train/config/checks_between_sections.h"
#include "train/data/generate.h"
#include "train/files/files.h"
#include "train/files/human_readable.h"

namespace heed {

namespace {

constexpr int share_of_time = 20;
constexpr int64_t shortest_reload = 4, longest_reload = 60;  // seconds

// What the accuracy of a task counts, in words.
std::string target_of(const Task& task) {
  if (!task.continues_prompt()) {
    const Split split =
        task.data().example_count(Split::validation) > 0 ? Split::validation : Split::train;
    const Batch example = task.data().examples(split, {0});
    const bool classes = example.targets.rank() < 2 || !example.input.ids;
    return classes ? "answers right" : "tokens of the answer right";
  }
  const char* unit = task.tokenizer() != nullptr ? task.tokenizer()->unit() : "token";
  return text("next ", unit, " guessed right");
}

std::vector<std::pair<std::string, std::string>> facts_of(const LoadedRun& loaded,
                                                          const Module& model) {
  const BlasInfo blas = blas_info();
  return {{"model", loaded.config.model.type()},
          {"parameters", grouped(model.parameter_count())},
          {"data", loaded.data_description()},
          {"precision", precision_name},
          {"machine", text(cpu().model, " (", simd_name(cpu().simd), ")")},
          {"threads", text(num_threads())},
          {"matrix products", blas.products == "OpenBLAS"
                                  ? text("OpenBLAS, kernels for ", blas.kernel)
                                  : text("our own kernels (", blas.products, ")")},
          {"heedgrad", HEED_VERSION}};
}

bool scores_heads(const LoadedRun& run) {
  return run.config.eval.extra.get<ProbeKeys>().probe == "heads";
}

}  // namespace

template <class F>
void RunReport::attempt(F&& f) {
  if (given_up_) {
    return;
  }
  try {
    f();
  } catch (const std::exception& error) {
    given_up_ = true;
    trouble_ = text("warning    no report any more: ", error.what());
  }
}

void RunReport::prepare(Module& model, const LoadedRun& loaded, ConfigErrors& errors) const {
  if (dry_run() && loaded.config.purpose == Purpose::train && scores_heads(loaded)) {
    heed::attempt(errors, loaded.resolved.get("eval"), "probe", [&] {
      probe::require_heads(model, probe::repeated_tokens(model, 1, 1, 0), "heads");
    });
  }
}

void RunReport::on_begin(const RunInTraining& run, int64_t step) {
  run_.emplace(run);
  last_written_ = Clock::now();
  attempt([&] {
    record_ = step > 0 ? read_record(run.folder / "report.json") : ReportRecord();
    record_.cut(step);
    record_.facts = facts_of(run.loaded, run.model);
    record_.target = target_of(*run.loaded.task);
    record_.outputs = run.loaded.task->output_size();
    if (step == 0) {
      add_snapshot(step);
      add_head_scores(step);
    }
  });
}

void RunReport::on_evaluation(int64_t step, const Evaluation& evaluation) {
  attempt([&] {
    record_.add(step, evaluation);
    add_classes(evaluation);
    hardest_ = evaluation.hardest;
    add_snapshot(step);
    add_head_scores(step);
  });
  if (Clock::now() >= not_before_) {
    write(/*over=*/false);
  }
}

void RunReport::on_end(int64_t step, bool diverged) {
  if (!diverged && last_snapshot_ != step) {
    attempt([&] { add_snapshot(step); });
  }
  write(/*over=*/true);
}

void RunReport::add_snapshot(int64_t step) {
  const LoadedRun& loaded = run_->loaded;
  Module& model = run_->model;
  Exhibit shown = exhibit(model, *loaded.task, loaded.config);
  const std::vector<AttentionMap> maps = attention_maps(model, *loaded.task, shown.shown);
  if (!maps.empty()) {
    record_.picture = shown_picture(shown.shown, maps.front().weights.dim(2));
  }
  if (record_.picture) {
    const EvaluationMode evaluating(model);
    shown.answer = loaded.task->target_name(likeliest(model(shown.shown).value().span()));
  }
  record_.plane = decisions_in_plane(model, *loaded.task);
  record_.add(snapshot(step, shown, maps));
  last_snapshot_ = step;
}

// Always on the same random tokens, those of `heed probe RUN heads`.
void RunReport::add_head_scores(int64_t step) {
  const LoadedRun& loaded = run_->loaded;
  Module& model = run_->model;
  if (!scores_heads(loaded)) {
    return;
  }
  const int64_t repeat = probe::default_repeat(model);
  const Input in =
      probe::repeated_tokens(model, probe::default_sequences, repeat, loaded.config.seed);
  record_.add(step, probe::score_heads(model, in, repeat));
}

void RunReport::add_classes(const Evaluation& evaluation) {
  constexpr size_t most_classes = 60;
  if (evaluation.confusion.size() > most_classes) {
    return;
  }
  record_.classes = {{}, evaluation.confusion};
  for (size_t k = 0; k < evaluation.confusion.size(); ++k) {
    record_.classes.names.push_back(run_->loaded.task->target_name(static_cast<int32_t>(k)));
  }
}

// A page of a run that is going on is reloaded about as often as it is written.
GoingOn RunReport::going_on(Clock::time_point now) const {
  const auto pause = std::chrono::duration_cast<std::chrono::seconds>(now - last_written_).count();
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::seconds>(since_1970).count(),
          std::clamp<int64_t>(pause, shortest_reload, longest_reload)};
}

void RunReport::write(bool over) {
  const Clock::time_point start = Clock::now();
  attempt([&] {
    if (const ReadableExamples* examples = run_->loaded.task->readable_examples();
        examples != nullptr && !hardest_.empty()) {
      record_.hardest = readable(hardest_, run_->model, *examples);
      hardest_.clear();
    }
    write_file_atomically(run_->folder / "report.json", to_json(record_), Links::refuse);
    write_report({&run_->folder, 1}, run_->folder / "report.html", Links::refuse,
                 over ? std::nullopt : std::optional(going_on(start)));
  });
  last_written_ = Clock::now();
  not_before_ = last_written_ + share_of_time * (last_written_ - start);
}

std::string RunReport::way_to_look(const RunInTraining& run) {
  const std::filesystem::path page = run.folder / "report.html";
  return is_there(page) ? shell_word(page.string()) + " in a browser" : "";
}

}  // namespace heed
