#include "tools/extras/inspect/attention_hint.h"

#include "tools/extras/report/pages/attention_maps.h"
#include "train/files/human_readable.h"

namespace heed {

std::string AttentionHint::way_to_look(const RunInTraining& run) {
  const Task& task = *run.loaded.task;
  const Exhibit shown = exhibit(run.model, task, run.loaded.config);
  if (attention_maps(run.model, task, shown.shown).empty()) {
    return "";
  }
  return run.loaded.program() + " inspect " + shell_word(run.folder.string()) + " --attention";
}

}  // namespace heed
