// Makes layers from a line of YAML, runs them forward and backward, and compares the results: with
// golden files from PyTorch, or with those of another run.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "autograd/random/streams.h"
#include "layers/linear.h"
#include "tests/support/near.h"

namespace heed::testing {

// The layer of `{type: linear, d_in: 4, d_out: 3}`, its parameters drawn from `seed`.
std::unique_ptr<Module> layer_of(const std::string& yaml, uint64_t seed = 123);

// The message of the error for an invalid config, with locations `model.yaml:line:column`.
std::string config_error_of(const std::string& yaml);

// "W_query.weight (3, 4)\n", one line a parameter, in order.
std::string parameter_lines(const Module& layer);
Array parameter_of(const Module& layer, const std::string& name);
void set_parameter(Module& layer, const std::string& name, const Array& value);
// Sets every parameter of `to` to the value of the parameter of that name in `from`.
void copy_parameters(const Module& from, Module& to);
// Adds random numbers in [-0.2, 0.2) to all parameters: initial values of 0 or 1 can hide errors.
void perturb_parameters(Module& layer, uint64_t seed = 3);

// a (n, m) -> (m, n); rows [first, last) of a.
Array transposed(const Array& a);
Array rows_between(const Array& a, int64_t first, int64_t last);

// Switches fused operations off (`on` false: on) until the end of the scope.
class Composed {
 public:
  explicit Composed(bool on = true);
  ~Composed();
  Composed(const Composed&) = delete;
  Composed& operator=(const Composed&) = delete;

 private:
  bool before_;
};

// The output "y", the gradients "x" and "context" of the inputs that are there, and those of the
// parameters by name; zeros where no gradient arrived.
using Results = std::map<std::string, Array>;
// Runs forward and backward with the cotangent `dy`, by default numbers in [0.5, 1.5), and always
// with the same dropout masks. No gradient is left behind.
Results run(Module& layer, const Input& in, const Array& dy = {});

// The largest relative difference between two results. The scale of a tensor is its largest number.
// Some gradients are zero except for rounding, so the scale of a gradient is at least 1/50 of the
// largest of all gradients, and that of a bias at least the scale of its weight. The test fails if
// names or shapes differ or a number is not finite.
double distance(const Results& got, const Results& want);
// Returns the number of tensors compared; those named in `without` are left out of `want`.
int64_t check_near(const Results& got, const Results& want, double tolerance = 20 * rounding,
                   const std::vector<std::string>& without = {});
int64_t check_same_bits(const Results& got, const Results& want);
// Whether this build has the layers of a golden file: those of an extra may be left out.
bool is_built(const std::string& name);

// The layer of tests/golden/layers/<name>.safetensors with its parameters, for evaluation.
std::unique_ptr<Module> golden_layer(const std::string& name);
// Compares with tests/golden/layers/<name>.safetensors: names and shapes of the parameters, y and
// all gradients, fused and composed. Returns how many tensors were compared.
int64_t check_golden(const std::string& name);
std::vector<std::string> golden_names();
// The `type` of a golden file's model, and of the layers inside it as far as the config names them.
std::vector<std::string> golden_types(const std::string& name);

// Checks that the initial parameters are those of PyTorch's modules, drawn in the same order:
// embeddings normal, Linear uniform, norms 1 and 0. Returns how many numbers were compared.
int64_t check_torch_init(const std::string& yaml, uint64_t seed);

// Sizes for attending_layers: width 12 * times, vocabulary 11.
struct Sizes {
  int64_t times = 1;
  int64_t context_length = 16;
  double dropout = 0;
};
struct LayerCase {
  std::string name;
  std::string yaml;
  bool attends_itself = false;  // an attention layer, not a block or model around one
};
// All attention layers, and blocks and models around each of them.
std::vector<LayerCase> attending_layers(const Sizes& sizes);
// x (lead..., 12 * times) or ids (lead...), whichever the layer takes.
Input input_for(const Module& layer, const Shape& lead, int64_t times = 1, uint64_t seed = 1);

// Another class in the place of a Linear: twice what that gives.
struct Doubled final : Linear {
  explicit Doubled(const Linear& base) : Linear(base) {}

 protected:
  Tensor forward(const Input& in) override { return Linear::forward(in) * 2; }
};

}  // namespace heed::testing
