// Layers from a line of YAML, run forward and backward, and compared: with the golden files that
// PyTorch made, with themselves under other circumstances.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "layers/check/layer_inputs.h"
#include "tests/support/near.h"

namespace heed::testing {

// The layer of `{type: linear, d_in: 4, d_out: 3}`, its parameters drawn from `seed`.
std::unique_ptr<Module> layer_of(const std::string& yaml, uint64_t seed = 123);

// The message of the error that the call ends with; "no error" without one.
template <class E = ShapeError, class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  return "no error";
}

// The message about a config that cannot be made; its places are `model.yaml:line:column`.
std::string config_error_of(const std::string& yaml);

// "W_query.weight (3, 4)\n", one line a parameter, in order.
std::string parameter_lines(const Module& layer);
Array parameter_of(const Module& layer, const std::string& name);
void set_parameter(Module& layer, const std::string& name, const Array& value);
// Every parameter of `to` takes the value of the one of the same name.
void copy_parameters(const Module& from, Module& to);
// All parameters take uneven numbers, biases and norms too: after initialisation some are 0 or 1.
void perturb_parameters(Module& layer, uint64_t seed = 3);

// a (n, m) -> (m, n); rows [first, last) of a.
Array transposed(const Array& a);
Array rows_between(const Array& a, int64_t first, int64_t last);

// Fused operations off while it exists.
class Composed {
 public:
  explicit Composed(bool on = true);
  ~Composed();
  Composed(const Composed&) = delete;
  Composed& operator=(const Composed&) = delete;

 private:
  bool before_;
};

using Results = LayerResults;
inline Results run(Module& layer, const Input& in, const Array& dy = {}) {
  return run_layer(layer, in, dy);
}

// The largest difference of two results: of y relative to its largest number; of a gradient to its
// own, but at least a fiftieth of all gradients', or, for a bias, that of its weight: some are zero
// but for rounding. Fails where names or shapes differ or a number is not finite.
double distance(const Results& got, const Results& want);
// How many tensors were compared; those named in `without` are left out of `want`.
int64_t check_near(const Results& got, const Results& want, double tolerance = 20 * rounding,
                   const std::vector<std::string>& without = {});
int64_t check_same_bits(const Results& got, const Results& want);

// Compares with tests/golden/layers/<name>.safetensors: names and shapes of the parameters, y and
// all gradients, fused and composed. Returns how many tensors were compared.
int64_t check_golden(const std::string& name);
std::vector<std::string> golden_names();
// The `type` of a golden file's model, and of the layers inside it as far as the config names them.
std::vector<std::string> golden_types(const std::string& name);

// The numbers of PyTorch's modules under the names of ours, drawn in the order of the parameters:
// embeddings normal, Linear uniform, norms 1 and 0. Returns how many numbers were compared.
int64_t check_torch_init(const std::string& yaml, uint64_t seed);

// Layers of width 12 (a multiple of it with `times`) over a vocabulary of 11: every layer that
// attends, and blocks and models around each of them.
struct Sizes {
  int64_t times = 1;
  int64_t context_length = 16;
  double dropout = 0;
};
struct LayerCase {
  std::string name;
  std::string yaml;
  bool attends_itself = false;  // an attention layer, no block or model around one
};
std::vector<LayerCase> attending_layers(const Sizes& sizes);
// x (lead.., 12 times) or ids (lead..), whichever the layer takes.
Input input_for(const Module& layer, const Shape& lead, int64_t times = 1, uint64_t seed = 1);

}  // namespace heed::testing
