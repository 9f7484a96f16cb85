// What every layer is: a forward function, named parameters, named children.
//
// Letters in shapes: B batch, T tokens, S keys (T unless there is a context), d width, H heads,
// V vocabulary. Layers take (B, T, d) and (T, d), the latter as a batch of one.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "layers/config/fields.h"
#include "layers/module/input.h"
#include "layers/module/observers.h"
#include "layers/module/parameter.h"

namespace heed {

class Module {
 public:
  Module() = default;
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // Runs the layer, so that errors, profiles and graphs know where they are.
  Tensor operator()(const Input& in);

  // Own parameters first, then those of the children in the order of construction, as PyTorch's
  // named_parameters(). A tied parameter comes once, under its first name.
  std::vector<NamedParameter> parameters() const;
  int64_t parameter_count() const;

  // Only switches dropout. Whether a graph is recorded is NoGrad's business.
  void train(bool on = true);
  bool training() const { return training_; }

  // "trf_blocks.0.att", "" for the root.
  const std::string& path() const;
  const std::vector<std::pair<std::string, Module*>>& children() const { return children_; }
  const std::vector<Parameter*>& own_parameters() const { return parameters_; }

  // What `heed forward` and the gradient check have to give the layer.
  enum class Takes { x, ids };
  virtual Takes takes() const { return Takes::x; }
  // Whether it reads from a second sequence as well: `context` beside x; `source_ids`, and perhaps
  // `source_mask`, beside ids.
  virtual bool takes_context() const { return false; }
  // Whether outputs at t depend on inputs at t and before only.
  virtual bool causal() const { return false; }
  // Whether the layer can be given a few tokens at a time, those before in Input::cache.
  virtual bool takes_cache() const { return false; }

 protected:
  virtual Tensor forward(const Input& in) = 0;

 private:
  friend class Parameter;
  template <class Layer>
  friend class Child;

  void adopt(const std::string& name, Module* child);
  void collect(const std::string& prefix, std::vector<NamedParameter>& found) const;
  void forget_path();

  std::vector<Parameter*> parameters_;
  std::vector<std::pair<std::string, Module*>> children_;
  Module* parent_ = nullptr;
  std::string name_;
  mutable const std::string* path_ = nullptr;  // interned; set at first use
  bool training_ = true;
};

// A layer inside a layer, under a name. Child<Linear> is built from its config; Child<Module> holds
// whatever a registry made.
template <class Layer>
class Child {
 public:
  template <class Config>
  Child(Module* parent, const std::string& name, const Config& config)
      : Child(parent, name, std::make_unique<Layer>(config)) {}
  Child(Module* parent, const std::string& name, std::unique_ptr<Layer> layer)
      : layer_(std::move(layer)) {
    parent->adopt(name, layer_.get());
  }

  Tensor operator()(const Input& in) const { return (*layer_)(in); }
  Layer* operator->() const { return layer_.get(); }
  Layer& operator*() const { return *layer_; }

 private:
  std::unique_ptr<Layer> layer_;
};

// The one copy of a text that lives as long as the process (graph nodes keep pointers to paths).
const std::string& intern(const std::string& text);

}  // namespace heed
