// The tensors of a layer, with their names: trained ones and constants.
#pragma once

#include <functional>
#include <string>

#include "autograd/graph/tensor.h"

namespace heed {

class Module;

// A trained tensor, registered under a name in its layer. Copies of the tensor share value and
// gradient.
class Parameter {
 public:
  using Init = std::function<void(Array& values)>;

  // Throws Error if `owner` already has a parameter or buffer of this name. If not `present`, as an
  // optional bias may be, it is empty and not registered.
  Parameter(Module* owner, std::string name, const Shape& shape, const Init& init,
            bool present = true);
  // The same parameter in another layer, which takes the place of its owner.
  Parameter(Module* owner, const Parameter& other);
  Parameter& operator=(const Parameter&) = delete;

  operator const Tensor&() const { return tensor_; }  // NOLINT: used like a tensor
  Tensor& tensor() { return tensor_; }
  const std::string& name() const { return name_; }
  explicit operator bool() const { return static_cast<bool>(tensor_); }

  // Ties weights: shares the tensor of the other parameter and drops its own.
  void tie(const Parameter& other) { tensor_ = other.tensor_; }

  // Makes it a constant: no operation computes a gradient for it.
  void freeze() {
    leaf_ = leaf_ ? leaf_ : tensor_;
    tensor_ = tensor_.detach();
  }
  // Leaves it out of checkpoints: another file holds it, from which it is filled.
  void leave_out(bool left_out = true) { is_stored_ = !left_out; }
  bool is_stored() const { return is_stored_; }
  // The same for parameters that are tied to each other, frozen or not.
  const void* identity() const { return (leaf_ ? leaf_ : tensor_).node().get(); }
  double rate = 1;  // what optimizers multiply its learning rate by

 private:
  Parameter(const Parameter&) = default;

  std::string name_;
  Tensor tensor_;
  Tensor leaf_;  // of a frozen parameter: what it was
  bool is_stored_ = true;
};

// A constant of a layer, such as a mask or a table, registered under a name: no optimizer sees it
// and parameters() leaves it out, but it is saved and loaded with them, as what PyTorch's
// register_buffer() registers. forward() must not change it: the processes of a run each have one.
class Buffer {
 public:
  // Throws Error if `owner` already has a parameter or buffer of this name.
  Buffer(Module* owner, std::string name, Array values);
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  operator const Tensor&() const { return tensor_; }  // NOLINT: used like a tensor
  const Tensor& tensor() const { return tensor_; }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  Tensor tensor_;
};

struct NamedParameter {
  std::string name;  // "trf_blocks.0.att.W_query.weight"
  Tensor tensor;
  double rate = 1;  // a factor of the learning rate
};

}  // namespace heed
