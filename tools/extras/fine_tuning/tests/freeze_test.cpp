#include "tools/extras/fine_tuning/train/freeze.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "autograd/base/error.h"
#include "autograd/random/streams.h"
#include "layers/module/registry.h"
#include "train/step.h"

using namespace heed;

namespace {

std::unique_ptr<Module> gpt_to_freeze(bool tied) {
  manual_seed(1);
  return make_layer("gpt", ConfigNode::map({{"vocab_size", 11},
                                            {"context_length", 6},
                                            {"d_model", 8},
                                            {"num_heads", 2},
                                            {"num_layers", 1},
                                            {"tie_embeddings", tied}}));
}

Tensor loss_of(Module& model) {
  return model(Input(Ids::from({1, 4}, std::vector<int32_t>{1, 2, 3, 4})));
}

}  // namespace

TEST_CASE("freeze: patterns") {
  struct Row {
    std::vector<std::string> patterns;
    std::string name;
    bool matches;
  };
  for (const Row& row : std::vector<Row>{{{"tok_emb.*"}, "tok_emb.weight", true},
                                         {{"tok_emb"}, "tok_emb.weight", false},
                                         {{"a", "*.norm?.*"}, "trf_blocks.0.norm1.scale", true},
                                         {{"*.norm?.*"}, "trf_blocks.0.norm12.scale", false},
                                         {{"*"}, "", true},
                                         {{"a*b*c"}, "aXbYbZc", true},
                                         {{"a*b*c"}, "aXbYbZ", false},
                                         {{"trf_blocks.[01].*"}, "trf_blocks.1.norm1.scale", true},
                                         {{"trf_blocks.[01].*"}, "trf_blocks.2.norm1.scale", false},
                                         {{}, "a", false}}) {
    CAPTURE(row.name);
    CHECK(matches_any(row.patterns, row.name) == row.matches);
  }
}

TEST_CASE("freeze: no gradient, and the same ones for what trains") {
  const std::unique_ptr<Module> free = gpt_to_freeze(false), frozen = gpt_to_freeze(false);
  const std::vector<NamedParameter> from = free->parameters();
  freeze(*frozen, {"trf_blocks.0.att.*", "tok_emb.weight", "trf_blocks.0.ff.layers.0.bias"});
  const Tensor y = loss_of(*free), z = loss_of(*frozen);
  y.backward(Array::full(y.shape(), 1));
  z.backward(Array::full(z.shape(), 1));
  int64_t without = 0, compared = 0;
  const std::vector<NamedParameter> now = frozen->parameters();
  REQUIRE(now.size() == from.size());
  for (size_t k = 0; k < now.size(); ++k) {
    CAPTURE(now[k].name);
    CHECK(now[k].name == from[k].name);
    if (!now[k].tensor.grad()) {
      ++without;
      continue;
    }
    const Array a = now[k].tensor.grad(), b = from[k].tensor.grad();
    CHECK(std::equal(a.span().begin(), a.span().end(), b.span().begin()));
    ++compared;
  }
  CHECK(without == 7);  // W_query, W_key, W_value, out_proj (2), the embedding, a bias
  CHECK(compared > 8);
  CHECK(trained_parameters(*frozen).size() == static_cast<size_t>(compared));
}

TEST_CASE("freeze: tied parameters freeze together and stay one") {
  const std::unique_ptr<Module> model = gpt_to_freeze(true);
  const size_t before = model->parameters().size();
  freeze(*model, {"out_head.weight"});
  CHECK(model->parameters().size() == before);
  CHECK(trained_parameters(*model).size() == before - 1);
  freeze(*model, {"tok_emb.weight"});  // again
  CHECK(trained_parameters(*model).size() == before - 1);
}
