#include "train/report/run_report.h"

#include <algorithm>

#include "autograd/kernels/blas_info.h"
#include "autograd/threads/machine.h"
#include "autograd/threads/parallel.h"
#include "train/files/files.h"
#include "train/files/words.h"
#include "train/report/page.h"

namespace heed {

namespace {

constexpr int share_of_time = 20;

std::vector<std::pair<std::string, std::string>> facts_of(const LoadedRun& loaded,
                                                          const Module& model) {
  const BlasInfo blas = blas_info();
  return {{"model", loaded.config.model.type},
          {"parameters", grouped(model.parameter_count())},
          {"data", loaded.task->description()},
          {"precision", precision_name},
          {"machine", text(cpu().model, " (", simd_name(cpu().simd), ")")},
          {"threads", text(num_threads())},
          {"OpenBLAS kernels", blas.kernel},
          {"heedgrad", HEED_VERSION}};
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

void RunReport::on_begin(const RunInTraining& run, int64_t step) {
  run_.emplace(run);
  attempt([&] {
    record_ = step > 0 ? read_record(run.folder / "report.json") : ReportRecord();
    record_.cut(step);
    record_.facts = facts_of(run.loaded, run.model);
    if (step == 0) {
      add_snapshot(step);
    }
  });
}

void RunReport::on_evaluation(int64_t step, const Evaluation& evaluation) {
  attempt([&] {
    record_.add(step, evaluation);
    add_snapshot(step);
  });
  if (std::chrono::steady_clock::now() >= not_before_) {
    write();
  }
}

void RunReport::on_end(int64_t step, bool diverged) {
  if (!diverged && last_snapshot_ != step) {
    attempt([&] { add_snapshot(step); });
  }
  write();
}

bool RunReport::shows_attention() const {
  return std::any_of(record_.snapshots.begin(), record_.snapshots.end(),
                     [](const ReportRecord::Snapshot& of) { return !of.maps.empty(); });
}

void RunReport::add_snapshot(int64_t step) {
  const auto& [folder, loaded, model] = *run_;
  const Exhibit shown = exhibit(model, *loaded.task, loaded.config);
  record_.add(snapshot(step, shown, attention_maps(model, *loaded.task, shown.shown)));
  last_snapshot_ = step;
}

void RunReport::write() {
  const auto start = std::chrono::steady_clock::now();
  attempt([&] {
    write_file_atomically(run_->folder / "report.json", to_json(record_));
    write_report({&run_->folder, 1}, run_->folder / "report.html");
  });
  const auto end = std::chrono::steady_clock::now();
  not_before_ = end + share_of_time * (end - start);
}

}  // namespace heed
