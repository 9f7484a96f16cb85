#include "tools/extras/inspect/parameter_printer.h"

#include "tools/extras/inspect/train/keys.h"
#include "tools/extras/inspect/train/shown_parameters.h"
#include "tools/extras/report/print.h"

namespace heed {

void ParameterPrinter::on_begin(const RunInTraining& run, int64_t step) {
  say_ = run.say;
  shown_ = shown_parameters(run.model, run.loaded.config.train.extra.get<ShowKeys>().show);
  print(step);
}

void ParameterPrinter::on_end(int64_t step, bool diverged) {
  if (!diverged) {
    print(step);
  }
}

void ParameterPrinter::print(int64_t step) const {
  const std::string when = step == 0 ? "before training" : text("after step ", step);
  for (const NamedParameter& parameter : shown_) {
    say_(text(parameter.name, ", ", when, "\n", printed(parameter.tensor)));
  }
}

}  // namespace heed
