// doctest checks for your own layers, operations and tasks, and of numbers:
//   TEST_CASE("my_layer") {
//     heed::testing::check_layer("{type: my_layer, d_in: 8, d_out: 8}", {{2, 5, 8}, {5, 8}});
//   }
// A failure says what is wrong and how to fix it. examine_layer.h describes the checks.
// Not part of heed/heed.h, because it includes doctest.
#pragma once

#include <doctest/doctest.h>

#include "autograd/array/reduce.h"
#include "autograd/op.h"
#include "layers/module/registry.h"
#include "tools/extras/checks/layers/layer_inputs.h"
#include "tools/extras/checks/train/examine_layer.h"
#include "tools/extras/checks/train/examine_task.h"

namespace heed::testing {

// The line of a test that calls one of the checks: failures carry it.
struct Caller {
  const char* file;
  int line;

  static Caller here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

// Checks that got and want have the same shape and |got - want| <= tolerance max(1, |want|).
inline void check_near(const Tensor& got, const Tensor& want, double tolerance = 1e-5,
                       const Caller& caller = Caller::here()) {
  CHECK(want.size() > 0);
  if (const std::string wrong = difference(got.value(), want.value(), tolerance); !wrong.empty()) {
    ADD_FAIL_CHECK_AT(caller.file, caller.line, wrong);
  }
}

// Random numbers from -1 to 1, always the same ones.
inline Tensor random_numbers(const Shape& shape) {
  Generator generator(1);
  return uniform_array(shape, -1, 1, generator);
}

inline void report(const std::string& name, const std::vector<Finding>& findings,
                   const Caller& caller = Caller::here()) {
  CHECK(!findings.empty());
  for (const Finding& finding : findings) {
    if (!finding.message.empty()) {
      ADD_FAIL_CHECK_AT(caller.file, caller.line,
                        text(name, "\n  ", finding.what, ": ", finding.message));
    }
  }
}

// Checks a layer registered by a plugin or by heedgrad, given as a config.
inline void check_layer(const std::string& config, const std::vector<Shape>& shapes = {},
                        const Caller& caller = Caller::here()) {
  report(config, examine_layer(config, shapes), caller);
}

// A layer from its config: such a test compiles whatever fields the class has.
inline std::unique_ptr<Module> make_layer(const std::string& config) {
  return heed::make_layer(choice_from("layer", config));
}

// Checks a class, registered or not. `options` is as in a config, without `type`.
template <class Layer>
void check_layer(const std::string& options, const std::vector<Shape>& shapes = {},
                 const Caller& caller = Caller::here()) {
  report(options, examine_layer_class<Layer>(options, shapes), caller);
}

// Checks a task registered by a plugin or by heedgrad, given as a config.
inline void check_task(const std::string& config, const Caller& caller = Caller::here()) {
  report(config, examine_task(config), caller);
}

// Checks an operation, given as a function of inputs with these shapes.
inline void check_op(const std::string& name, const Differentiable& f,
                     const std::vector<Shape>& shapes, const Caller& caller = Caller::here()) {
  std::string inputs;
  for (const Shape& shape : shapes) {
    inputs += text(inputs.empty() ? ", inputs " : ", ", shape);
  }
  report(name + inputs, examine_op(f, shapes), caller);
}

}  // namespace heed::testing
