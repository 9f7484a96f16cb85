#include "train/check/examiner.h"

namespace heed {

ExaminerRegistry& examiner_registry() {
  static auto& registry = ExaminerRegistry::filled("examiner", register_examiners);
  return registry;
}

std::vector<Finding> examined(const LayerChoice& layer) {
  std::vector<Finding> all;
  for (const std::string& name : examiner_registry().types().names()) {
    const auto examiner = examiner_registry().make(name, ConfigNode::map({}));
    for (Finding& finding : examiner->examine(layer)) {
      all.push_back(std::move(finding));
    }
  }
  return all;
}

}  // namespace heed
