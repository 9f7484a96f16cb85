// What is trained in place of a model's own weights: `train.lora`. A door for wings: a header that
// ends in HEED_ADAPTER(Class, "name") adds a type of it.
#pragma once

#include <memory>

#include "layers/module/registry.h"

namespace heed {

struct LoadedRun;

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

// The model of a run: its parameters drawn, then filled from LoadedRun::weights, if there are any;
// then train.lora added. In a dry run weights are compared only.
std::unique_ptr<Module> make_model(const LoadedRun& run);

// Adds train.lora, if there is one. Checkpoints of the model leave out what LoadedRun::weights
// hold, unless checkpoint.full.
void add_adapter(const LoadedRun& run, Module& model);

// Merges it into the model's own weights.
void merge_adapter(const LoadedRun& run, Module& model);

}  // namespace heed
