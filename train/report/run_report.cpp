#include "train/report/run_report.h"

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

RunReport::RunReport(std::filesystem::path run, const LoadedRun& loaded, Module& model,
                     int64_t step)
    : run_(std::move(run)), loaded_(loaded), model_(model) {
  attempt([&] {
    record_ = step > 0 ? read_record(run_ / "report.json") : ReportRecord();
    record_.cut(step);
    record_.facts = facts_of(loaded_, model_);
  });
}

void RunReport::add(int64_t step, const std::optional<Evaluation>& evaluation) {
  attempt([&] {
    if (evaluation) {
      record_.add(step, *evaluation);
    }
    const Exhibit shown = exhibit(model_, *loaded_.task, loaded_.config);
    record_.add(snapshot(step, shown, attention_maps(model_, *loaded_.task, shown.shown)));
  });
}

void RunReport::write(bool last) {
  const auto start = std::chrono::steady_clock::now();
  if (!last && start < not_before_) {
    return;
  }
  attempt([&] {
    write_file_atomically(run_ / "report.json", to_json(record_));
    write_report({&run_, 1}, run_ / "report.html");
  });
  const auto end = std::chrono::steady_clock::now();
  not_before_ = end + share_of_time * (end - start);
}

}  // namespace heed
