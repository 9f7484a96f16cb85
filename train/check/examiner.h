// More than gradients that a layer is looked at for: a door for wings. A header that ends in
// HEED_EXAMINER(Class, "name") adds what `heed gradcheck LAYER` runs.
#pragma once

#include <string>
#include <vector>

#include "layers/module/registry.h"

namespace heed {

// The result of one check.
struct Finding {
  std::string what;     // "causality"
  std::string message;  // what is wrong and how to fix it; "" if the check passed
};

class Examiner {
 public:
  virtual ~Examiner() = default;
  // Looks at a registered layer; one Finding for each check. Restores the random streams.
  virtual std::vector<Finding> examine(const LayerChoice& layer) const = 0;
};

using ExaminerRegistry = Registry<Examiner>;
ExaminerRegistry& examiner_registry();
void register_examiners(ExaminerRegistry& registry);

// What all examiners find.
std::vector<Finding> examined(const LayerChoice& layer);

#define HEED_EXAMINER(Class, name) \
  static_assert(std::is_base_of_v<heed::Examiner, Class>, name " must derive from Examiner")

}  // namespace heed
