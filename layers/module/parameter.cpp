#include "layers/module/parameter.h"

#include <algorithm>

#include "layers/module/module.h"

namespace heed {

Parameter::Parameter(Module* owner, std::string name, const Shape& shape, const Init& init,
                     bool present)
    : name_(std::move(name)) {
  if (!present) {
    return;
  }
  Array values = Array::uninitialised(shape);
  init(values);
  tensor_ = Tensor::parameter(std::move(values));
  owner->require_new(name_);
  owner->parameters_.push_back(this);
}

Parameter::Parameter(Module* owner, const Parameter& other) : Parameter(other) {
  if (tensor_) owner->parameters_.push_back(this);
}

Buffer::Buffer(Module* owner, std::string name, Array values)
    : name_(std::move(name)), tensor_(std::move(values)) {
  owner->require_new(name_);
  owner->buffers_.push_back(this);
}

void Module::require_new(const std::string& name) const {
  const auto has_it = [&name](const auto* other) { return other->name() == name; };
  require<Error>(std::none_of(parameters_.begin(), parameters_.end(), has_it) &&
                     std::none_of(buffers_.begin(), buffers_.end(), has_it),
                 "module: two parameters are called ", name,
                 "; each Parameter or Buffer of a layer needs a name of its own");
}

}  // namespace heed
