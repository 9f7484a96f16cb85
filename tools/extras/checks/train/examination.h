// The parts of examine_layer: the layer under test, and one function per check.
#pragma once

#include "autograd/array/reduce.h"
#include "tools/extras/checks/layers/layer_inputs.h"
#include "tools/extras/checks/train/examine_layer.h"

namespace heed::detail {

// What a layer without a limit of its own has to take.
inline constexpr int64_t many_tokens = 48, many_source_tokens = 20;

// A layer under test, with factories for fresh copies of it and for its inputs.
class Examination {
 public:
  Examination(const LayerSubject& subject, const std::vector<Shape>& shapes);

  std::unique_ptr<Module> fresh(uint64_t seed) const {
    manual_seed(seed, Generators::separate, streams().dropout_stream());
    return subject.make();
  }
  std::unique_ptr<Module> perturbed(uint64_t seed) const {
    std::unique_ptr<Module> layer = fresh(seed);
    Generator numbers(seed);
    perturb(*layer, numbers);
    return layer;
  }
  Input input(const InputForm& form, uint64_t seed = 11) const {
    Generator numbers(seed);
    return random_input(sizes, form, numbers);
  }
  std::string given_form(const InputForm& form) const { return " given " + describe(sizes, form); }

  const LayerSubject& subject;
  Signature sizes;
  std::vector<InputForm> forms;  // those of the given shapes first, then all other kinds
  std::string refused;           // the error for the first form that the layer refuses, left out
};

// Output of the layer in evaluation mode (no dropout), without recording a graph.
Array evaluate_layer(Module& layer, const Input& in);

inline std::string difference_beyond_rounding(const Array& a, const Array& b) {
  return difference(a, b, is_float64 ? 1e-9 : 1e-3);
}

// Each returns "" or an error message that says how to fix the layer.
std::string check_length(const Examination& it);
std::string check_parameters(const Examination& it);
std::string check_forward(const Examination& it);
std::string check_gradients_right(const Examination& it);
std::string check_gradients_arrive(const Examination& it);
std::string check_checkpoint(const Examination& it);

}  // namespace heed::detail
