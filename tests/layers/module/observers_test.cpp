// Observers that see and replace activations: every layer that attends offers its heads, and
// without an edit no bit changes.
#include "layers/module/observers.h"

#include <algorithm>
#include <map>

#include "layers/module/evaluation_mode.h"
#include "layers/multi_head_attention.h"
#include "tests/support/layer_cases.h"
#include "tests/support/source_tree.h"

using namespace heed;
using namespace heed::testing;

namespace {

// Wants everything; replaces what `edit` returns an array for.
class SeesEverything final : public ForwardObserver {
 public:
  using Change = std::function<Array(Activation, const Array&)>;
  explicit SeesEverything(Change change = {}) : change_(std::move(change)) {}

  bool wants(const Module&, Activation) const override { return true; }
  Array visit(const Module& layer, Activation what, const Array& value) override {
    seen[what].emplace_back(layer.path(), value);
    return change_ ? change_(what, value) : Array();
  }
  std::map<Activation, std::vector<std::pair<std::string, Array>>> seen;

 private:
  Change change_;
};

// A layer of somebody else: two heads by attend(), a third by mix_values().
class Outside final : public Module {
 public:
  Signature signature() const override { return {.width = 12, .mask = true, .causal = true}; }

 protected:
  Tensor forward(const Input& in) override {
    const Tensor x = with_batch("outside", in.x, 12);
    const Tensor two = attend(*this, in, x, x, x, 0, {.num_heads = 2, .causal = true});
    const Tensor weights = attention_weights(matmul(x, x, Trans::no, Trans::yes), in.mask);
    return without_batch(two + mix_values(*this, weights, x), in.x);
  }
};

struct Attending {
  std::string name;
  std::unique_ptr<Module> layer;
  Input in;
};

std::vector<Attending> all_that_attend() {
  std::vector<Attending> all;
  for (const LayerCase& c : attending_layers({.dropout = 0.5})) {
    all.push_back({c.name, layer_of(c.yaml), {}});
    all.back().in = input_for(*all.back().layer, {2, 7});
  }
  std::vector<std::string> to_context;
  if (layout::has_extra("sequence_models")) {
    to_context.emplace_back("{type: cross_attention, d_in: 12, d_out: 12, num_heads: 3}");
  }
  if (layout::has_extra("recurrent")) {
    to_context.emplace_back("{type: global_attention, d_in: 12}");
    to_context.emplace_back("{type: global_attention, d_in: 12, score: dot}");
  }
  for (const std::string& type : to_context) {
    all.push_back({type, layer_of(type), Tensor(values({2, 7, 12}))});
    all.back().in.context = Tensor(values({2, 5, 12}, -1, 1, 9));
  }
  all.push_back({"outside", std::make_unique<Outside>(), Tensor(values({2, 7, 12}))});
  for (Attending& one : all) perturb_parameters(*one.layer);
  return all;
}

Array output_of(Module& layer, const Input& in) {
  const EvaluationMode evaluating(layer);
  return layer(in).value();
}

}  // namespace

TEST_CASE("observers: the innermost one that is alive is called, in whatever order they end") {
  Linear layer({.d_in = 2, .d_out = 2});
  const Tensor x(Array::full({1, 2}, 1));
  const auto calls = [&](SeesEverything& observer) {
    const size_t before = observer.seen[Activation::output].size();
    layer(x);
    return observer.seen[Activation::output].size() - before;
  };
  auto first = std::make_unique<SeesEverything>(), second = std::make_unique<SeesEverything>();
  SeesEverything third;
  second.reset();
  CHECK(calls(third) == 1);
  CHECK(calls(*first) == 0);
  {
    SeesEverything fourth;
    first.reset();
    CHECK(calls(fourth) == 1);
  }
  CHECK(calls(third) == 1);
}

TEST_CASE("observers: every layer that attends offers weights and heads, and keeps its bits") {
  int64_t offered = 0, compared = 0;
  for (Attending& of : all_that_attend()) {
    CAPTURE(of.name);
    const Results plain = run(*of.layer, of.in);
    SeesEverything observer;
    const Results observed = run(*of.layer, of.in);
    compared += check_same_bits(observed, plain);
    const auto& weights = observer.seen[Activation::attn_weights];
    const auto& heads = observer.seen[Activation::heads];
    REQUIRE(!heads.empty());
    REQUIRE(heads.size() == weights.size());
    for (size_t i = 0; i < heads.size(); ++i, ++offered) {
      CHECK(heads[i].first == weights[i].first);
      CHECK(heads[i].second.rank() == 4);
      CHECK(heads[i].second.dim(2) == weights[i].second.dim(1));  // H
      CHECK(heads[i].second.dim(1) == weights[i].second.dim(2));  // T
    }
    CHECK(!observer.seen[Activation::output].empty());
  }
  CHECK(offered == 54 + (layout::has_extra("recurrent") ? 2 : 0) +
                       (layout::has_extra("sequence_models") ? 1 : 0));
  CHECK(compared > 200);
}

TEST_CASE("observers: weights put in place are mixed as the layer mixes its own") {
  int64_t compared = 0;
  for (Attending& of : all_that_attend()) {
    CAPTURE(of.name);
    const Array plain = output_of(*of.layer, of.in);
    const SeesEverything same([&](Activation what, const Array& value) {
      return what == Activation::attn_weights ? value.clone() : Array();
    });
    compared += check_near(output_of(*of.layer, of.in), plain, 50 * rounding);
  }
  CHECK(compared > 1000);
}

TEST_CASE("observers: patching every activation with those of another run gives that run's bits") {
  for (Attending& of : all_that_attend()) {
    CAPTURE(of.name);
    Input other = of.in;
    if (other.ids) {
      other.ids = other.ids.clone();
      other.ids.mutable_data()[2] = (other.ids.data()[2] + 1) % 11;
    } else {
      other.x = Tensor(values(other.x.shape(), -1, 1, 77));
    }
    SeesEverything clean;
    const Array want = output_of(*of.layer, of.in);
    std::map<Activation, size_t> next;
    const SeesEverything patching(
        [&](Activation what, const Array&) { return clean.seen[what][next[what]++].second; });
    CHECK(std::equal(want.span().begin(), want.span().end(),
                     output_of(*of.layer, other).span().begin()));
  }
}

TEST_CASE("observers: a head that is zero leaves the bias of out_proj") {
  MultiHeadAttention layer({.d_in = 4, .d_out = 4, .context_length = 5, .num_heads = 2});
  const Tensor x(values({1, 5, 4}));
  const SeesEverything no_heads([](Activation what, const Array& value) {
    return what == Activation::heads ? Array::zeros(value.shape()) : Array();
  });
  const Array y = output_of(layer, x), bias = (*layer.out_proj)->bias.tensor().value();
  for (int64_t i = 0; i < y.size(); ++i) {
    CHECK(y.data()[i] == bias.data()[i % 4]);
  }
}

TEST_CASE("observers: an output that is replaced is what later layers get") {
  const auto gpt = layer_of(
      "{type: gpt, vocab_size: 5, context_length: 4, d_model: 4, num_heads: 2, num_layers: 2}");
  const Input in(ids({1, 3}, {0, 1, 2}));
  class Last final : public ForwardObserver {
   public:
    bool wants(const Module& layer, Activation what) const override {
      return what == Activation::output && layer.path() == "trf_blocks.1";
    }
    Array visit(const Module&, Activation, const Array& value) override {
      return Array::zeros(value.shape());
    }
    void after_forward(const Module& layer, const Input&, const Tensor& out) override {
      zero = zero || (layer.path() == "trf_blocks.1" && out.value().data()[5] == 0);
    }
    bool zero = false;
  } observer;
  const Array logits = output_of(*gpt, in);
  CHECK(observer.zero);
  CHECK(logits.data()[0] == 0);  // norm and shift of nothing, by an out_head without bias
}

TEST_CASE("observers: no edit while a graph is recorded, and none of another shape") {
  MultiHeadAttention layer({.d_in = 4, .d_out = 4, .context_length = 5, .num_heads = 2});
  const Tensor x(values({1, 5, 4}));
  {
    const SeesEverything edit([](Activation, const Array& value) { return value.clone(); });
    CHECK(message_of<GraphError>([&] { layer(x); }) ==
          "observer: expected NoGrad for an edit of W_query, a graph is recorded");
  }
  const SeesEverything wrong([](Activation what, const Array&) {
    return what == Activation::heads ? Array::zeros({1, 5, 4}) : Array();
  });
  CHECK(message_of<ShapeError>([&] { output_of(layer, x); }) ==
        "observer: expected a replacement (1, 5, 2, 2) for an activation of , got (1, 5, 4)");
}
