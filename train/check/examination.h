// The parts of examine_layer: what is examined, and one function a thing to look at.
#pragma once

#include "layers/check/layer_inputs.h"
#include "train/check/examine_layer.h"

namespace heed::detail {

// A layer, what it is given, and fresh copies of both.
class Examination {
 public:
  Examination(const LayerSubject& subject, const std::vector<Shape>& shapes);

  std::unique_ptr<Module> fresh(uint64_t seed) const {
    manual_seed(seed, Generators::separate, streams().dropout_stream());
    return subject.make();
  }
  std::unique_ptr<Module> perturbed(uint64_t seed) const {
    std::unique_ptr<Module> layer = fresh(seed);
    perturb(*layer, seed);
    return layer;
  }
  Input input(const Module& layer, const InputForm& form, uint64_t seed = 11) const {
    Generator numbers(seed);
    return random_input(sizes, form, layer, numbers);
  }
  std::string given(const InputForm& form) const { return " given " + describe(sizes, form); }

  const LayerSubject& subject;
  InputSizes sizes;
  std::vector<InputForm> forms;  // of the shapes, then of every kind
};

// Without dropout, without a graph.
Array evaluate_layer(Module& layer, const Input& in);

// "" or where they differ by more than rounding.
std::string far(const Array& a, const Array& b);

// Each returns "" or what is wrong and what to mend.
std::string check_parameters(const Examination& it);
std::string check_forward(const Examination& it);
std::string check_gradients_right(const Examination& it);
std::string check_gradients_arrive(const Examination& it);
std::string check_checkpoint(const Examination& it);

}  // namespace heed::detail
