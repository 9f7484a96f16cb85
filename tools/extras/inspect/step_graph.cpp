#include "tools/extras/inspect/step_graph.h"

#include <algorithm>
#include <map>

#include "autograd/array/storage.h"
#include "layers/module/registry.h"
#include "tools/extras/checks/layers/layer_inputs.h"
#include "train/plan.h"

namespace heed {

namespace {

// All nodes that `result` depends on, in order of creation.
std::vector<Node*> nodes_behind(const Tensor& result) {
  std::map<uint64_t, Node*> found;
  std::vector<Node*> open{result.node().get()};
  while (!open.empty()) {
    Node* const node = open.back();
    open.pop_back();
    if (node == nullptr || !found.emplace(node->number(), node).second) {
      continue;
    }
    for (const NodeRef& input : node->inputs()) {
      open.push_back(input.get());
    }
  }
  std::vector<Node*> nodes;
  for (const auto& [number, node] : found) {
    nodes.push_back(node);
  }
  return nodes;
}

std::string words_for(const Input& in) {
  std::string words = in.source_ids ? text("source_ids ", in.source_ids.shape(), ", ") : "";
  return words + (in.ids ? text("ids ", in.ids.shape()) : text("x ", in.x.shape()));
}

// The loss of a batch, or the model's output if there is no data.
Tensor result_of(const LoadedRun& run, Module& model, std::string& words) {
  const int64_t size = std::max<int64_t>(1, run.config.train.batch_size);
  if (!run.task) {
    const Signature sizes = sized_signature(model);
    const int64_t tokens = sizes.tokens_near(sizes.longest.value_or(1));
    const Input in = blank_input(sizes, size, tokens, sizes.source_longest.value_or(tokens));
    words = words_for(in);
    return model(in);
  }
  const RestoreState restore(run.task->data());
  const Batch batch = run.task->data().next(size, streams().data());
  words = words_for(batch.input);
  return run.task->loss(model(batch.input), batch).sum;
}

}  // namespace

StepGraph step_graph(const LoadedRun& run) {
  const DryRun dry;
  const std::unique_ptr<Module> model = make_layer(run.config.model);
  StepGraph graph;
  const Tensor result = result_of(run, *model, graph.input);

  std::map<const Node*, std::string> parameters;
  for (const NamedParameter& parameter : model->parameters()) {
    parameters[parameter.tensor.node().get()] = parameter.name;
  }
  std::map<const Node*, size_t> index;
  for (Node* const node : nodes_behind(result)) {
    const size_t to = graph.operations.size();
    index[node] = to;
    StepGraph::Operation operation{node->op(), node->layer_path(), node->shape()};
    if (const auto found = parameters.find(node); found != parameters.end()) {
      const size_t dot = found->second.rfind('.');
      operation.parameter = true;
      operation.name = found->second.substr(dot == std::string::npos ? 0 : dot + 1);
      operation.layer = found->second.substr(0, dot == std::string::npos ? 0 : dot);
    }
    graph.operations.push_back(std::move(operation));
    for (const NodeRef& input : node->inputs()) {
      if (input) {
        graph.inputs.emplace_back(index.at(input.get()), to);
      }
    }
  }
  return graph;
}

}  // namespace heed
