#include "train/check/examiner.h"

namespace heed {

ExaminerRegistry& examiner_registry() {
  static auto& registry = ExaminerRegistry::filled("examiner", register_examiners);
  return registry;
}

std::vector<Finding> examined(const LayerChoice& layer) {
  std::vector<Finding> all;
  for (const std::unique_ptr<Examiner>& examiner : examiner_registry().make_all()) {
    for (Finding& finding : examiner->examine(layer)) {
      all.push_back(std::move(finding));
    }
  }
  return all;
}

}  // namespace heed
