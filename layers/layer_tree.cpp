#include "layers/layer_tree.h"

#include <map>
#include <set>

#include "autograd/blas.h"
#include "layers/evaluation_mode.h"
#include "layers/probe.h"
#include "layers/registry.h"

namespace heed {

namespace {

struct Use {
  Shape output;
  int64_t calls = 0;
  int64_t flops = 0;
};

class UseObserver final : public ForwardObserver {
 public:
  void before_forward(const Module&, const Input&) override { started_.push_back(flop_count()); }
  void after_forward(const Module& layer, const Input&, const Tensor& out) override {
    Use& use = uses[&layer];
    use.output = out.shape();
    use.calls += 1;
    use.flops += flop_count() - started_.back();
    started_.pop_back();
  }

  std::map<const Module*, Use> uses;

 private:
  std::vector<int64_t> started_;
};

class TreeMaker {
 public:
  explicit TreeMaker(const UseObserver& observer) : observer_(observer) {}

  LayerNode make(const std::string& name, const Module& layer) {
    LayerNode node;
    node.name = name;
    node.type = layer_registry().name_of(layer);
    if (const auto use = observer_.uses.find(&layer); use != observer_.uses.end()) {
      node.output = use->second.output;
      node.calls = use->second.calls;
      node.flops = use->second.flops;
    }
    for (Parameter* parameter : layer.own_parameters()) {
      const Tensor& tensor = parameter->tensor();
      const bool first = seen_.insert(tensor.node().get()).second;
      node.own.push_back({parameter->name(), tensor.shape(), !first});
      node.parameters += first ? tensor.size() : 0;
    }
    for (const auto& [child_name, child] : layer.children()) {
      node.children.push_back(make(child_name, *child));
      node.parameters += node.children.back().parameters;
    }
    return node;
  }

 private:
  const UseObserver& observer_;
  std::set<const Node*> seen_;
};

Input input_of(const InputSizes& sizes, int64_t batch, int64_t tokens) {
  if (sizes.takes == Module::Takes::ids) {
    return Ids::uninitialised({batch, tokens});
  }
  return Tensor(Array::uninitialised({batch, tokens, sizes.width}));
}

}  // namespace

ModelTree layer_tree(const LayerSpec& spec, int64_t batch, int64_t tokens) {
  const ConfigNode options = complete_options(spec);
  const DryRun dry;
  const int64_t before = pool::stats().live_bytes;
  const std::unique_ptr<Module> model = make_layer(spec);
  ModelTree tree;
  tree.weight_bytes = pool::stats().live_bytes - before;

  const InputSizes sizes = input_sizes(*model, options);
  const EvaluationMode evaluating(*model);
  const Input in = input_of(sizes, batch, tokens > 0 ? tokens : sizes.context_length.value_or(1));
  tree.input = in.ids ? text("ids ", in.ids.shape()) : text("x ", in.x.shape());
  tree.tokens = in.ids ? in.ids.size() : in.x.size() / sizes.width;
  pool::reset_peak();
  UseObserver observer;
  (*model)(in);
  tree.activation_bytes = pool::stats().peak_bytes - before - tree.weight_bytes;
  tree.root = TreeMaker(observer).make("", *model);
  return tree;
}

}  // namespace heed
