// For the tests of one's own layers, operations and tasks, with doctest:
//   TEST_CASE("my_layer") {
//     heed::testing::check_layer("{type: my_layer, d_in: 8, d_out: 8}", {{2, 5, 8}, {5, 8}});
//   }
// fails with a line that says what is wrong and what to mend. What is looked at:
// train/check/examine_layer.h. Not part of heed/heed.h, for it includes doctest.
#pragma once

#include <doctest/doctest.h>

#include "autograd/op.h"
#include "train/check/examine_layer.h"
#include "train/check/examine_task.h"

namespace heed::testing {

inline void report(const std::string& name, const std::vector<Finding>& findings) {
  CHECK(!findings.empty());
  for (const Finding& finding : findings) {
    CHECK_MESSAGE(finding.message.empty(), text(name, ": ", finding.what, ": ", finding.message));
  }
}

// A layer that a plugin or heedgrad itself registers, as a config has it.
inline void check_layer(const std::string& config, const std::vector<Shape>& shapes = {}) {
  report(config, examine_layer(config, shapes));
}

// A class, registered or not; `options` as in a config, without `type`.
template <class Layer>
void check_layer(const std::string& options, const std::vector<Shape>& shapes = {}) {
  report(options, examine_layer_class<Layer>(options, shapes));
}

// A task that a plugin or heedgrad itself registers, as a config has it.
inline void check_task(const std::string& config) { report(config, examine_task(config)); }

// An operation as a function of inputs of these shapes.
inline void check_op(const std::string& name, const Differentiable& f,
                     const std::vector<Shape>& shapes) {
  report(name, examine_op(f, shapes));
}

}  // namespace heed::testing
