// What is trained in place of a model's own weights: `train.lora`. A header that ends in
// HEED_ADAPTER(Class, "name") adds a type of it.
#pragma once

#include "layers/module/registry.h"

namespace heed {

class Adapter {
 public:
  virtual ~Adapter() = default;
  // Adds parameters, drawn from streams().init(), to a model that has its weights, and freezes
  // those that it does not train. Throws ConfigError if there is nothing to add them to.
  virtual void add_to(Module& model) const = 0;
  // Puts what they have learned into the model's own weights, and takes them off.
  virtual void merge_into(Module& model) const = 0;
};

using AdapterRegistry = Registry<Adapter>;
AdapterRegistry& adapter_registry();
void register_adapters(AdapterRegistry& registry);

#define HEED_ADAPTER(Class, name) \
  static_assert(std::is_base_of_v<heed::Adapter, Class>, name " must derive from Adapter")

}  // namespace heed
