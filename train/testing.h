// doctest checks for your own layers, operations and tasks:
//   TEST_CASE("my_layer") {
//     heed::testing::check_layer("{type: my_layer, d_in: 8, d_out: 8}", {{2, 5, 8}, {5, 8}});
//   }
// A failure says what is wrong and how to fix it. train/check/examine_layer.h describes the checks.
// Not part of heed/heed.h, because it includes doctest.
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

// Checks a layer registered by a plugin or by heedgrad, given as a config.
inline void check_layer(const std::string& config, const std::vector<Shape>& shapes = {}) {
  report(config, examine_layer(config, shapes));
}

// Checks a class, registered or not. `options` is as in a config, without `type`.
template <class Layer>
void check_layer(const std::string& options, const std::vector<Shape>& shapes = {}) {
  report(options, examine_layer_class<Layer>(options, shapes));
}

// Checks a task registered by a plugin or by heedgrad, given as a config.
inline void check_task(const std::string& config) { report(config, examine_task(config)); }

// Checks an operation, given as a function of inputs with these shapes.
inline void check_op(const std::string& name, const Differentiable& f,
                     const std::vector<Shape>& shapes) {
  report(name, examine_op(f, shapes));
}

}  // namespace heed::testing
