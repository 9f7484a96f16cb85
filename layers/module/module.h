// The base class of layers: a forward function, named parameters and named children.
//
// Letters in shapes: B batch, T tokens, S keys (T in self-attention without a cache), d width,
// H heads, V vocabulary. Layers take (B, T, d) and (T, d), the latter as a batch of one. They throw
// ShapeError for other shapes.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "layers/config/fields.h"
#include "layers/module/input.h"
#include "layers/module/observers.h"
#include "layers/module/parameter.h"
#include "layers/module/signature.h"

namespace heed {

class Module {
 public:
  Module() = default;
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // Runs forward(). The graph nodes that it makes carry the layer's path. Calls the
  // ForwardObserver, if any, which may replace the output.
  Tensor operator()(const Input& in);

  // Own parameters first, then those of the children in the order of construction, as PyTorch's
  // named_parameters(). A tied parameter comes once, under its first name.
  std::vector<NamedParameter> parameters() const;
  // Calls visit(name, parameter) in that order; visits a tied parameter under each of its names.
  template <class Visit>
  void for_each_parameter(const Visit& visit, const std::string& prefix = "") const {
    for (Parameter* parameter : parameters_) {
      visit(prefix + parameter->name(), *parameter);
    }
    for (const auto& [name, child] : children_) {
      child->for_each_parameter(visit, prefix + name + ".");
    }
  }
  int64_t parameter_count() const;

  // For `train: {recompute: blocks}`: all blocks (layers with branches()) but the last keep only
  // their input and run again in the backward pass (ops/recompute.h). Not while an observer watches
  // or the input needs no gradient. Returns `after`, the blocks after this layer, plus its own.
  int64_t recompute_blocks(bool on, int64_t after = 0);

  // Switches dropout on or off, here and in all children. Does not affect the graph: see NoGrad.
  void train(bool on = true);
  bool training() const { return training_; }

  // The names from the root to this layer, "trf_blocks.0.att"; "" for the root.
  const std::string& path() const;
  Module* parent() const { return parent_; }  // null for the root
  using Children = std::vector<std::pair<std::string, std::unique_ptr<Module>>>;
  const Children& children() const { return children_; }
  const std::vector<Parameter*>& own_parameters() const { return parameters_; }
  const std::vector<Buffer*>& own_buffers() const { return buffers_; }

  // What the layer takes. `heed forward`, the checks and text generation depend on it.
  virtual Signature signature() const { return {}; }
  // The steps of a block, in order; {} for other layers. `heed explain` and `heed probe` use them.
  virtual std::vector<Branch> branches() const { return {}; }
  // Redraws this layer's own matrices as GPT-2 does, with mean 0 and standard deviation 0.02. Other
  // parameters keep their values, unless a layer overrides this: Linear sets its bias to 0.
  virtual void draw_as_gpt2();
  // The matrices whose products are the output: GPT-2 draws them smaller where a shortcut follows.
  virtual std::vector<Tensor> last_matrices() const { return {}; }

  // Destroys a child and puts `layer` in its place, under its name. `layer` must fit the Child: in
  // a Child<Linear>, it is a Linear or derives from it.
  void replace_child(const Module& child, std::unique_ptr<Module> layer);

 protected:
  virtual Tensor forward(const Input& in) = 0;

  // Reports a layer that is not called to the ForwardObserver, if any: a fused operation of its
  // parent computes its output, of this shape.
  static void observe(const Module& layer, const Shape& output, int64_t flops);

 private:
  friend class Parameter;
  friend class Buffer;
  friend class EvaluationMode;
  template <class Layer>
  friend class Child;

  Tensor run(const Input& in);
  Tensor run_again_later(const Input& in);
  void require_new(const std::string& name) const;
  size_t adopt(const std::string& name, std::unique_ptr<Module> child);
  void enter(Module* parent, const std::string& name);
  void forget_path();
  void begin_evaluation();
  void end_evaluation();

  std::vector<Parameter*> parameters_;
  std::vector<Buffer*> buffers_;
  Children children_;
  Module* parent_ = nullptr;
  std::string name_;
  mutable const std::string* path_ = nullptr;  // interned; set at first use
  bool training_ = true;
  bool recomputes_ = false;
  bool before_evaluation_ = true;
  int evaluations_ = 0;  // EvaluationModes that are alive
};

// A named layer inside another layer, its owner. Child<Linear> is built from its config;
// Child<Module> is any layer, such as one made by the registry.
template <class Layer>
class Child {
 public:
  template <class Config>
  Child(Module* parent, const std::string& name, const Config& config)
      : Child(parent, name, std::make_unique<Layer>(config)) {}
  Child(Module* parent, const std::string& name, std::unique_ptr<Layer> layer)
      : parent_(parent), place_(parent->adopt(name, std::move(layer))) {}
  // Moved when a vector of children grows. To replace the layer, see replace_child().
  Child(Child&&) noexcept = default;
  Child& operator=(Child&&) = delete;

  Tensor operator()(const Input& in) const { return (**this)(in); }
  Layer* operator->() const { return &**this; }
  Layer& operator*() const { return static_cast<Layer&>(*parent_->children_[place_].second); }

 private:
  Module* parent_;
  size_t place_;  // among the children of the parent
};

// Returns the only copy of this text, which lives as long as the process. Graph nodes keep pointers
// to such paths.
const std::string& intern(const std::string& text);

}  // namespace heed
