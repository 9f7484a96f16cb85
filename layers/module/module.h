// What every layer is: a forward function, named parameters, named children.
//
// Letters in shapes: B batch, T tokens, S keys (T unless there is a context), d width, H heads,
// V vocabulary. Layers take (B, T, d) and (T, d), the latter as a batch of one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "autograd/graph/tensor.h"
#include "layers/config/fields.h"

namespace heed {

class KeyValueCache;

// What a layer is given. Which parts it uses is up to the layer; most use x.
struct Input {
  Input() = default;
  Input(Tensor values, Mask may_attend = {})  // NOLINT: layer(x) and layer({x, mask})
      : x(std::move(values)), mask(std::move(may_attend)) {}
  Input(Ids tokens, Mask may_attend = {})  // NOLINT: layer(ids)
      : ids(std::move(tokens)), mask(std::move(may_attend)) {}

  // The same surroundings around other values: how a layer calls its children.
  Input with(Tensor values) const {
    Input in = *this;
    in.x = std::move(values);
    return in;
  }

  // How many tokens came before these, out of the cache.
  int64_t past() const;

  Tensor x;   // (B, T, d)
  Ids ids;    // (B, T), in [0, V)
  Mask mask;  // (B, S) over the keys or (B, 1, T, S); 1 = may attend; none: everything
  KeyValueCache* cache = nullptr;  // of the tokens before these; none: there are none

  // A second sequence, for layers that read from one (see Module::takes_context).
  Tensor context;    // (B, S, d), beside x; `mask` is over it
  Ids source_ids;    // (B, S), beside ids
  Mask source_mask;  // (B, S) over source_ids; 1 = a token, 0 = padding; none: all are tokens
};

class Module;

// A tensor that is trained, under a name in its layer. Copies of the tensor share value and
// gradient.
class Parameter {
 public:
  using Init = std::function<void(Array& values)>;

  Parameter(Module* owner, std::string name, const Shape& shape, const Init& init);
  // One that may be left out (a bias): without it the parameter is empty and has no name.
  Parameter(Module* owner, std::string name, const Shape& shape, const Init& init, bool present);
  Parameter(const Parameter&) = delete;
  Parameter& operator=(const Parameter&) = delete;

  operator const Tensor&() const { return tensor_; }  // NOLINT: used like a tensor
  Tensor& tensor() { return tensor_; }
  const std::string& name() const { return name_; }
  explicit operator bool() const { return static_cast<bool>(tensor_); }

  // From now on this is the other parameter (tied weights); its own numbers are forgotten.
  void tie(const Parameter& other) { tensor_ = other.tensor_; }

 private:
  std::string name_;
  Tensor tensor_;
};

struct NamedParameter {
  std::string name;  // "trf_blocks.0.att.W_query.weight"
  Tensor tensor;
};

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

// While one exists, layers that attend add their weights to it: for pictures.
class AttentionRecorder {
 public:
  struct Weights {
    std::string path;  // of the layer
    Array weights;  // (B, H, T, S), before dropout; every row sums to 1, or to 0 if all is hidden
  };

  AttentionRecorder() : before_(std::exchange(current_, this)) {}
  ~AttentionRecorder() { current_ = before_; }
  AttentionRecorder(const AttentionRecorder&) = delete;
  AttentionRecorder& operator=(const AttentionRecorder&) = delete;

  static AttentionRecorder* current() { return current_; }
  std::vector<Weights> recorded;

 private:
  static inline thread_local AttentionRecorder* current_ = nullptr;
  AttentionRecorder* before_;
};

// While one exists, it is told what every layer made: for the tree of shapes that `inspect` prints.
class ForwardObserver {
 public:
  ForwardObserver() : before_(std::exchange(current_, this)) {}
  virtual ~ForwardObserver() { current_ = before_; }
  ForwardObserver(const ForwardObserver&) = delete;
  ForwardObserver& operator=(const ForwardObserver&) = delete;

  static ForwardObserver* current() { return current_; }
  virtual void before_forward(const Module&, const Input&) {}
  virtual void after_forward(const Module& layer, const Input& in, const Tensor& out) = 0;

 private:
  static inline thread_local ForwardObserver* current_ = nullptr;
  ForwardObserver* before_;
};

}  // namespace heed
