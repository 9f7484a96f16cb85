#include "layers/module/module.h"

#include "autograd/array/storage.h"
#include "autograd/graph/graph.h"
#include "autograd/graph/layer_scope.h"
#include "layers/linear.h"
#include "layers/module/evaluation_mode.h"
#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

void zeros(Array& values) { std::fill_n(values.mutable_data(), values.size(), real{0}); }

// Own parameters a, b and two children.
struct Tree final : Module {
  Tree()
      : a(this, "a", {2}, zeros),
        b(this, "b", {3}, zeros, false),
        left(this, "left", Linear::Config{2, 2, true}),
        right(this, "right", Linear::Config{2, 2, false}) {}
  Parameter a, b;
  Child<Linear> left, right;

 protected:
  Tensor forward(const Input& in) override { return right(left(in)); }
};

struct TwoParameters final : Module {
  TwoParameters() : first(this, "w", {1}, zeros), second(this, "w", {1}, zeros) {}
  Parameter first, second;

 protected:
  Tensor forward(const Input& in) override { return in.x; }
};

struct MaskAndWeight final : Module {
  explicit MaskAndWeight(const std::string& name)
      : mask(this, "mask", Array::from({2}, {1, 0})), w(this, name, {2}, zeros) {}
  Buffer mask;
  Parameter w;

 protected:
  Tensor forward(const Input& in) override { return in.x * w + mask; }
};

struct TwoChildren final : Module {
  TwoChildren() : first(this, "c", Linear::Config{1, 1}), second(this, "c", Linear::Config{1, 1}) {}
  Child<Linear> first, second;

 protected:
  Tensor forward(const Input& in) override { return in.x; }
};

struct Observed final : ForwardObserver {
  std::vector<std::string> lines;
  void after_forward(const Module& layer, const Input& in, const Tensor& out) override {
    lines.push_back(text(layer.path(), " ", in.x.shape(), " ", out.shape()));
  }
};

}  // namespace

TEST_CASE("module: parameters come own first, then by child, as named_parameters()") {
  const Tree tree;
  CHECK(parameter_lines(tree) ==
        "a (2,)\nleft.weight (2, 2)\nleft.bias (2,)\nright.weight (2, 2)\n");
  CHECK(tree.parameter_count() == 12);
  CHECK_FALSE(tree.b);
  CHECK(tree.children().size() == 2);
  CHECK(tree.own_parameters().size() == 1);
}

TEST_CASE("module: paths are PyTorch's, and follow a layer into a larger one") {
  const auto gpt = layer_of(
      "{type: gpt, vocab_size: 5, context_length: 4, d_model: 4, num_heads: 2, num_layers: 2}");
  CHECK(gpt->path() == "");
  std::vector<std::string> paths;
  const std::function<void(const Module&)> walk = [&](const Module& module) {
    for (const auto& [name, child] : module.children()) {
      paths.push_back(child->path());
      walk(*child);
    }
  };
  walk(*gpt);
  CHECK(paths.size() == 29);
  for (const char* path : {"tok_emb", "trf_blocks.1.att.W_query", "trf_blocks.0.ff.layers.2",
                           "trf_blocks.1.drop_shortcut", "final_norm", "out_head"}) {
    CHECK(std::count(paths.begin(), paths.end(), path) == 1);
  }

  auto inner = std::make_unique<Tree>();
  CHECK(inner->left->path() == "left");
  struct Outer final : Module {
    explicit Outer(std::unique_ptr<Tree> layer) : tree(this, "tree", std::move(layer)) {}
    Child<Tree> tree;

   protected:
    Tensor forward(const Input& in) override { return tree(in); }
  };
  const Outer outer(std::move(inner));
  CHECK(outer.tree->left->path() == "tree.left");
  CHECK(&outer.tree->left->path() == &intern("tree.left"));
}

TEST_CASE("module: the same name twice is refused") {
  CHECK(message_of<Error>([] { TwoParameters(); }) ==
        "module: two parameters are called w; each Parameter or Buffer of a layer needs a name "
        "of its own");
  CHECK(message_of<Error>([] { MaskAndWeight("mask"); }) ==
        "module: two parameters are called mask; each Parameter or Buffer of a layer needs a name "
        "of its own");
  CHECK(message_of<Error>([] { TwoChildren(); }) ==
        "module: two children are called c; each Child of a layer needs a name of its own");
}

TEST_CASE("module: a buffer is computed with, and is no parameter") {
  MaskAndWeight layer("w");
  CHECK(parameter_lines(layer) == "w (2,)\n");
  CHECK(layer.parameter_count() == 2);
  REQUIRE(layer.own_buffers().size() == 1);
  CHECK(layer.own_buffers()[0]->name() == "mask");
  CHECK_FALSE(layer.mask.tensor().requires_grad());
  const Tensor y = layer(Tensor(Array::from({2}, {3, 4})));
  check_same_bits(y.value(), Array::from({2}, {1, 0}));
  y.backward(Array::full({2}, 1));
  check_same_bits(layer.w.tensor().grad(), Array::from({2}, {3, 4}));
}

TEST_CASE("module: a tied parameter shares value and gradient and counts once") {
  Tree tree;
  tree.right->weight.tie(tree.left->weight);
  CHECK(parameter_lines(tree) == "a (2,)\nleft.weight (2, 2)\nleft.bias (2,)\n");
  CHECK(tree.parameter_count() == 8);
  const Tensor left = tree.left->weight, right = tree.right->weight;
  CHECK(left.node().get() == right.node().get());
  tree(Tensor(values({3, 2}))).backward(values({3, 2}, 0.5, 1.5));
  check_same_bits(left.grad(), right.grad());
}

TEST_CASE("module: train() reaches every layer, EvaluationMode brings it back") {
  Tree tree;
  CHECK(tree.training());
  tree.right->train(false);
  CHECK(tree.training());
  {
    const EvaluationMode evaluation(tree);
    CHECK_FALSE(tree.training());
    CHECK_FALSE(tree.left->training());
    CHECK_FALSE(NoGrad::recording());
    CHECK_FALSE(tree(Tensor(values({1, 2}))).requires_grad());
  }
  CHECK(tree.training());
  CHECK(tree.left->training());
  CHECK(NoGrad::recording());
  tree.train(false);
  CHECK(tree(Tensor(values({1, 2}))).requires_grad());  // train(false) still records a graph
}

TEST_CASE("module: EvaluationMode brings back the mode of each layer") {
  Tree tree;
  tree.right->train(false);  // a part that is frozen
  {
    const EvaluationMode evaluation(tree);
    const EvaluationMode inside(*tree.left);
    tree.right->train();
  }
  CHECK(tree.training());
  CHECK(tree.left->training());
  CHECK_FALSE(tree.right->training());
}

TEST_CASE("module: EvaluationModes may end in any order") {
  Tree tree;
  auto first = std::make_unique<EvaluationMode>(tree);
  auto second = std::make_unique<EvaluationMode>(*tree.left);
  first.reset();
  CHECK(tree.training());
  CHECK_FALSE(tree.left->training());
  CHECK_FALSE(NoGrad::recording());
  second.reset();
  CHECK(tree.left->training());
  CHECK(NoGrad::recording());
}

TEST_CASE("module: a child that is no layer is refused") {
  Tree tree;
  CHECK_THROWS_WITH_AS(Child<Module>(&tree, "other", std::unique_ptr<Module>()),
                       "module: expected a layer for the child other, got none", Error);
  CHECK(tree.children().size() == 2);
}

TEST_CASE("module: a child moves, but is not assigned to another one") {
  static_assert(std::is_nothrow_move_constructible_v<Child<Linear>>);
  static_assert(!std::is_move_assignable_v<Child<Linear>>);
  static_assert(!std::is_copy_assignable_v<Child<Linear>>);
  Tree tree;
  const Child<Linear> moved = std::move(tree.left);
  CHECK(tree.children()[0].second.get() == &*moved);
}

TEST_CASE("module: another layer takes the place of a child, its name and its parameters") {
  Tree tree;
  const Tensor x(values({3, 2}));
  const std::string before = parameter_lines(tree);
  const Array y = tree(x).value().clone();
  const void* const weight = tree.right->weight.identity();
  tree.right->weight.freeze();
  tree.replace_child(*tree.right, std::make_unique<Doubled>(*tree.right));
  CHECK_FALSE(is_plain(*tree.right));
  CHECK(tree.right->path() == "right");
  CHECK(tree.right->parent() == &tree);
  CHECK(tree.right->weight.identity() == weight);
  CHECK_FALSE(tree.right->weight.tensor().requires_grad());
  CHECK(parameter_lines(tree) == before);
  CHECK(check_near(tree(x).value(), (Tensor(y) * 2).value(), 0) == 6);
  tree.replace_child(*tree.right, std::make_unique<Linear>(*tree.right));
  CHECK(is_plain(*tree.right));
  check_same_bits(tree(x).value(), y);
  CHECK(message_of<Error>([&] { tree.replace_child(tree, std::make_unique<Tree>()); }) ==
        "module: expected a child to replace, got another layer");
}

TEST_CASE("module: an observer sees every layer, from the inside out") {
  Tree tree;
  const Tensor x(values({3, 2}));
  Observed outer;
  {
    Observed observed;
    tree(x);
    CHECK(observed.lines ==
          std::vector<std::string>{"left (3, 2) (3, 2)", "right (3, 2) (3, 2)", " (3, 2) (3, 2)"});
  }
  CHECK(outer.lines.empty());
  tree(x);
  CHECK(outer.lines.size() == 3);
}

TEST_CASE("module: nodes and errors of operations know the layer's path") {
  Tree tree;
  const Tensor y = tree(Tensor(values({3, 2})));
  CHECK(std::string(y.node()->layer_path()) == "right");
  CHECK(std::string(LayerScope::current()) == "");
  CHECK_THROWS_AS(tree(Tensor(values({3, 5}))), ShapeError);
  CHECK(std::string(LayerScope::current()) == "");
}

TEST_CASE("module: an error in the middle of a forward pass leaves the layer usable") {
  const auto layer = layer_of(
      "{type: gpt, vocab_size: 5, context_length: 4, d_model: 4, "
      "num_heads: 2, num_layers: 1, attention: {type: causal_attention, "
      "d_out: 3}}");
  const auto nodes = live_nodes();
  CHECK(message_of<ShapeError>([&] {
          (*layer)(ids({1, 2}, {0, 1}));
        }) ==
        "transformer_block: expected the attention to give (1, 2, 4), the shape of x, got "
        "(1, 2, 3)");
  CHECK(live_nodes() == nodes);
}

TEST_CASE("module: graphs and layers leave nothing behind") {
  int64_t built = 0;
  for (const LayerCase& c : attending_layers({.dropout = 0.2})) {
    CAPTURE(c.name);
    for (const bool composed : {false, true}) {
      const Composed form(composed);
      const int64_t nodes = live_nodes(), bytes = pool::stats().live_bytes;
      {
        const auto layer = layer_of(c.yaml);
        const Input in = input_for(*layer, {2, 7});
        const int64_t parameters = static_cast<int64_t>(layer->parameters().size());
        CHECK(live_nodes() == nodes + parameters);
        if (parameters > 0) {
          (*layer)(in).backward(values((*layer)(in).shape()));
          CHECK(live_nodes() == nodes + parameters);
          const Tensor kept = (*layer)(in);
          CHECK(live_nodes() > nodes + parameters);
          kept.backward(values(kept.shape()));
          ++built;
        }
      }
      CHECK(live_nodes() == nodes);
      CHECK(pool::stats().live_bytes == bytes);
    }
  }
  CHECK(built == 2 * 32);
}

TEST_CASE("module: GPT-2's 124M is counted in a dry run, with PyTorch's numbers") {
  const int64_t bytes = pool::stats().live_bytes;
  const std::string gpt2 =
      "type: gpt, vocab_size: 50257, context_length: 1024, d_model: 768, "
      "num_heads: 12, num_layers: 12";
  const GeneratorState before = Generator(123).state();
  {
    const DryRun dry;
    const auto book = layer_of("{" + gpt2 + "}");
    CHECK(book->parameter_count() == 163009536);  // the book, section 4.6
    CHECK(streams().init().state() == before);
    const Tensor logits = (*book)(Ids::uninitialised({2, 1024}));
    CHECK(logits.shape() == Shape{2, 1024, 50257});
    logits.backward(Array::uninitialised(logits.shape()));
    CHECK(layer_of("{" + gpt2 + ", tie_embeddings: true}")->parameter_count() == 124412160);
    CHECK(layer_of("{" + gpt2 + ", tie_embeddings: true, qkv_bias: true}")->parameter_count() ==
          124439808);  // GPT-2
    CHECK(layer_of("{" + gpt2 + ", tie_embeddings: true, bias: false}")->parameter_count() ==
          124337664);  // nanoGPT's
  }
  CHECK(pool::stats().live_bytes == bytes);
}
