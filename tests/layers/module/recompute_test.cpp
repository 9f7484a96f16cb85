// Blocks that run again in the backward pass.
#include "autograd/ops/recompute.h"

#include "autograd/ops/sum.h"
#include "layers/module/added_losses.h"
#include "layers/module/evaluation_mode.h"
#include "layers/transformer_block.h"
#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

// A block that counts its runs and adds two losses, one of which depends on nothing.
struct AddingBlock final : Module {
  Child<Linear> norm{this, "norm", Linear::Config{4, 4}},
      layer{this, "layer", Linear::Config{4, 4}};
  int runs = 0;

  std::vector<Branch> branches() const override { return {{&*norm, &*layer, false}}; }

 protected:
  Tensor forward(const Input& in) override {
    ++runs;
    const Tensor y = layer(norm(in.x));
    add_loss("size", sum(y * y));
    add_loss("size", sum(y * real(0.25)));
    add_loss("one", Tensor(Array::full({}, 1)));
    return in.x + y;
  }
};

// The last one keeps everything.
struct ThreeBlocks final : Module {
  Child<AddingBlock> first{this, "first", std::make_unique<AddingBlock>()},
      second{this, "second", std::make_unique<AddingBlock>()},
      last{this, "last", std::make_unique<AddingBlock>()};

  int runs() const { return first->runs + second->runs + last->runs; }

 protected:
  Tensor forward(const Input& in) override { return last(in.with(second(in.with(first(in))))); }
};

}  // namespace

TEST_CASE("recomputed blocks: what they add to the loss is counted and differentiated once") {
  std::vector<Array> kept;
  int64_t compared = 0;
  for (const bool recomputed : {false, true}) {
    manual_seed(3);
    ThreeBlocks model;
    CHECK(model.recompute_blocks(recomputed) == 3);
    const Tensor x = wanted(values({2, 4}));
    const AddedLosses added;
    const Tensor y = model(x);
    CHECK(model.runs() == 3);
    CHECK(added.by_name.size() == 2);
    CHECK(added.by_name.at("one").item() == 3);
    (sum(y) + added.by_name.at("size") + added.by_name.at("one")).backward();
    CHECK(model.runs() == (recomputed ? 5 : 3));
    CHECK(model.last->runs == 1);
    std::vector<Array> results{added.by_name.at("size").value(), y.value(), x.grad()};
    for (const NamedParameter& each : model.parameters()) results.push_back(each.tensor.grad());
    if (recomputed) check_near(results[0], kept[0]);  // each block adds its own losses up first
    for (size_t k = 1; k < kept.size(); ++k, ++compared) check_same_bits(results[k], kept[k]);
    kept = results;
  }
  CHECK(compared == 2 + 12);
}

TEST_CASE("recomputed blocks: once in evaluation, without a gradient, and for an observer") {
  ThreeBlocks model;
  model.recompute_blocks(true);
  const Tensor x = wanted(values({2, 4}));
  {
    const EvaluationMode mode(model);
    CHECK(!model(x).requires_grad());
  }
  const auto runs_of_a_pass = [&](const Tensor& in) {
    const int before = model.runs();
    const Tensor y = model(in);
    if (y.requires_grad()) sum(y).backward();
    return model.runs() - before;
  };
  CHECK(runs_of_a_pass(x) == 5);
  CHECK(runs_of_a_pass(x.detach()) == 4);
  {
    const ForwardObserver observer;
    CHECK(runs_of_a_pass(x) == 3);
  }
  model.train(false);
  CHECK(runs_of_a_pass(x) == 3);
  model.train();
  model.for_each_parameter([](const std::string&, Parameter& each) { each.freeze(); });
  CHECK(runs_of_a_pass(x) == 5);           // for x
  CHECK(runs_of_a_pass(x.detach()) == 3);  // for nothing
  model.recompute_blocks(false);
  CHECK(runs_of_a_pass(x) == 3);
}

TEST_CASE("recomputed blocks: errors and nodes of the second run know the layer's path") {
  ThreeBlocks model;
  model.recompute_blocks(true);
  struct Paths final : GraphObserver {
    void has_run(std::span<const NodeRef> nodes, size_t k, bool /*reached*/) override {
      if (std::string(nodes[k]->op()) == "linear") paths.emplace_back(nodes[k]->layer_path());
    }
    std::vector<std::string> paths;
  } seen;
  sum(model(wanted(values({2, 4})))).backward();
  CHECK(spaced(seen.paths) ==
        "last.layer last.norm second.layer second.norm first.layer first.norm");
}
