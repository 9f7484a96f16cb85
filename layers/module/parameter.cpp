#include "layers/module/parameter.h"

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
  for (const Parameter* other : owner->parameters_) {
    require<Error>(other->name_ != name_, "module: two parameters are called ", name_,
                   "; each Parameter of a layer needs a name of its own");
  }
  owner->parameters_.push_back(this);
}

}  // namespace heed
