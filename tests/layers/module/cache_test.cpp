#include "layers/module/cache.h"

#include "autograd/random/streams.h"
#include "layers/module/evaluation_mode.h"
#include "layers/module/registry.h"
#include "tests/support/near.h"

using namespace heed;
using namespace heed::testing;

namespace {

constexpr int64_t context = 9, vocabulary = 20;

std::unique_ptr<Module> made_gpt(const char* position, ConfigNode attention) {
  manual_seed(5);
  return make_layer("gpt", ConfigNode::map({{"vocab_size", vocabulary},
                                            {"context_length", context},
                                            {"d_model", 12},
                                            {"num_heads", 3},
                                            {"num_layers", 2},
                                            {"dropout", 0.5},
                                            {"position", position},
                                            {"attention", std::move(attention)}}));
}

Ids tokens_from(int64_t begin, int64_t end) {
  Ids made = Ids::uninitialised({1, end - begin});
  for (int64_t i = begin; i < end; ++i) {
    made.mutable_data()[i - begin] = static_cast<int32_t>((7 * i + 3) % vocabulary);
  }
  return made;
}

Array read(Module& model, Cache& cache, int64_t begin, int64_t end) {
  Input in(tokens_from(begin, end));
  in.cache = &cache;
  Array logits = model(in).value();
  cache.advance(end - begin);
  return logits;
}

// y_t = x_0 + ... + x_t: a layer of the user's own, whose state has a fixed size.
class RunningSum final : public Module {
 public:
  Signature signature() const override { return Signature::of_tokens(2); }

 protected:
  Tensor forward(const Input& in) override {
    struct Sum {
      real a = 0, b = 0;
    };
    Sum fresh;
    Sum& sum = in.cache != nullptr ? in.cache->state_of<Sum>(*this) : fresh;
    Array y = in.x.value().clone();
    for (real* row = y.mutable_data(); row != y.data() + y.size(); row += 2) {
      row[0] = sum.a += row[0];
      row[1] = sum.b += row[1];
    }
    return Tensor(y);
  }
};

}  // namespace

TEST_CASE("cache: a layer keeps a state of its own") {
  RunningSum layer;
  const NoGrad off;
  Cache cache(4);
  const Array x = values({1, 4, 2});
  const Array whole = layer(Tensor(x)).value();
  for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{0, 2}, {2, 3}, {3, 4}}) {
    const auto part = [&, b = begin, e = end](const Array& a) {
      return Array::from({1, e - b, 2}, a.span().subspan(static_cast<size_t>(2 * b),
                                                         static_cast<size_t>(2 * (e - b))));
    };
    Input in{Tensor(part(x))};
    in.cache = &cache;
    check_same_bits(layer(in).value(), part(whole));
    cache.advance(end - begin);
  }
  CHECK_THROWS_WITH_AS(cache.state_of<int>(layer), doctest::Contains("another type"), Error);
}

TEST_CASE("cache: token by token as all at once") {
  const auto multi_head = ConfigNode::map({{"type", "multi_head_attention"}});
  const auto packed = ConfigNode::map({{"type", "multi_head_attention"}, {"packed", true}});
  const auto wrapper = ConfigNode::map({{"type", "multi_head_attention_wrapper"}});
  const auto single = ConfigNode::map({{"type", "causal_attention"}});
  const auto grouped = ConfigNode::map({{"type", "multi_head_attention"}, {"num_kv_heads", 1}});
  ConfigNode window = multi_head;
  window.set("window", 2);
  const ConfigNode listed = ConfigNode::list({window, single});
  for (const ConfigNode& attention : {multi_head, packed, grouped, wrapper, single, listed}) {
    const bool turns = attention.get("type").text() == "multi_head_attention";
    for (const char* position : {"learned", "sinusoidal", "rope"}) {
      if (position == std::string("rope") && !turns) continue;
      const auto model = made_gpt(position, attention);
      REQUIRE(model->signature().cache);
      const EvaluationMode mode(*model);
      const Array whole = (*model)(tokens_from(0, context)).value();
      for (const int64_t prompt : {int64_t{1}, int64_t{4}, context}) {
        Cache cache(context);
        for (int64_t begin = 0, end = prompt; end <= context; begin = end++) {
          const Array some = read(*model, cache, begin, end);
          const auto expected = whole.span().subspan(static_cast<size_t>(begin * vocabulary),
                                                     static_cast<size_t>(some.size()));
          check_near(some, Array::from(some.shape(), expected), 20 * rounding);
        }
        CHECK(cache.length() == context);
      }
    }
  }
}

TEST_CASE("cache: what cannot be continued is refused") {
  const auto model = made_gpt("learned", ConfigNode::map({{"type", "multi_head_attention"}}));
  const EvaluationMode mode(*model);
  Cache cache(context);
  read(*model, cache, 0, 4);
  CHECK_THROWS_WITH_AS(read(*model, cache, 4, 6),
                       "attention with a cache: expected a causal layer and, after the first "
                       "tokens, one at a time, got queries (1, 2, 12) after 4",
                       ShapeError);
  for (int64_t t = 4; t < context; ++t) {
    read(*model, cache, t, t + 1);
  }
  CHECK_THROWS_WITH_AS(read(*model, cache, context, context + 1),
                       "positional: expected at most context_length 9 tokens, got 10 in (1, 1, 12) "
                       "and what came before",
                       ShapeError);
  cache = Cache(context);
  CHECK(read(*model, cache, 0, 4).dim(1) == 4);
}

TEST_CASE("cache: no graph, and only where the layer says so") {
  const auto model = made_gpt("learned", ConfigNode::map({{"type", "multi_head_attention"}}));
  Cache cache(context);
  CHECK_THROWS_AS(read(*model, cache, 0, 2), GraphError);
  const auto looks_ahead = ConfigNode::map({{"type", "multi_head_attention"}, {"causal", false}});
  CHECK_FALSE(made_gpt("learned", looks_ahead)->signature().cache);
  CHECK_FALSE(
      made_gpt("learned", ConfigNode::map({{"type", "self_attention_v2"}}))->signature().cache);
}

// One set of weights for two layers of attention: the second would overwrite the first one's rows.
TEST_CASE("cache: a layer that attends twice in one pass is refused") {
  const auto attention = make_layer(
      "multi_head_attention",
      ConfigNode::map({{"d_in", 8}, {"d_out", 8}, {"context_length", 4}, {"num_heads", 2}}));
  const EvaluationMode mode(*attention);
  Cache cache(4);
  Input in(Tensor(values({1, 2, 8})));
  in.cache = &cache;
  const Tensor once = (*attention)(in);
  CHECK_THROWS_WITH_AS((*attention)(in.with(once)),
                       doctest::Contains("updates its state twice in one forward"), Error);
  cache.advance(2);
  Input next(Tensor(values({1, 1, 8})));
  next.cache = &cache;
  CHECK((*attention)(next).shape() == Shape{1, 1, 8});
  cache = Cache(4);
  CHECK((*attention)(in).shape() == Shape{1, 2, 8});
}
