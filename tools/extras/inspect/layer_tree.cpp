#include "tools/extras/inspect/layer_tree.h"

#include <map>
#include <set>

#include "autograd/kernels/gemm.h"
#include "layers/module/evaluation_mode.h"
#include "layers/module/registry.h"
#include "tools/extras/checks/layers/layer_inputs.h"

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
  void within_operation(const Module& layer, const Shape& output, int64_t flops) override {
    Use& use = uses[&layer];
    use.output = output;
    use.calls += 1;
    use.flops += flops;
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

std::string describe(const Input& in) {
  if (in.ids) {
    return (in.source_ids ? text("source_ids ", in.source_ids.shape(), ", ") : "") +
           text("ids ", in.ids.shape());
  }
  return text("x ", in.x.shape()) + (in.context ? text(", context ", in.context.shape()) : "");
}

}  // namespace

ModelTree layer_tree(const LayerChoice& choice, int64_t batch, int64_t tokens) {
  const DryRun dry;
  const int64_t before = pool::stats().live_bytes;
  const std::unique_ptr<Module> model = make_layer(choice);
  ModelTree tree;
  tree.weight_bytes = pool::stats().live_bytes - before;

  const Signature sizes = sized_signature(*model);
  const EvaluationMode evaluating(*model);
  const int64_t length = sizes.tokens_near(tokens > 0 ? tokens : sizes.longest.value_or(1));
  const Input in = blank_input(sizes, batch, length, sizes.source_longest.value_or(length));
  tree.input = describe(in);
  tree.tokens = in.ids ? in.ids.size() : in.x.size() / in.x.dim(-1);
  pool::reset_peak();
  UseObserver observer;
  (*model)(in);
  tree.activation_bytes = pool::stats().peak_bytes - before - tree.weight_bytes;
  tree.root = TreeMaker(observer).make("", *model);
  return tree;
}

}  // namespace heed
