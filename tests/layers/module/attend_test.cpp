// What attention layers share: the batch axis and recorded weights. Masks: masks_test.cpp.
#include "layers/module/attend.h"

#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

// Checks that weights hidden by causality or the mask are 0, and that every row sums to 1, or to 0
// if all of it is hidden. Returns the number of rows.
int64_t check_weights(const Array& weights, bool causal, const Mask& keys_mask = {}) {
  const int64_t tokens = weights.dim(3), per_item = weights.dim(1) * weights.dim(2);
  const int64_t rows = weights.size() / tokens;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t query = r % tokens, item = r / per_item;
    double sum = 0;
    bool sees = false;
    for (int64_t j = 0; j < tokens; ++j) {
      const real w = weights.data()[r * tokens + j];
      const bool visible =
          (!causal || j <= query) && (!keys_mask || keys_mask.data()[item * tokens + j] == 1);
      sees = sees || visible;
      REQUIRE(w >= 0);
      REQUIRE((visible || w == 0));
      sum += static_cast<double>(w);
    }
    REQUIRE(sum == doctest::Approx(sees ? 1 : 0).epsilon(1e-5));
  }
  return rows;
}

std::vector<AttentionRecorder::Weights> record(Module& layer, const Input& in) {
  AttentionRecorder recorder;
  layer(in);
  return recorder.recorded;
}

}  // namespace

TEST_CASE("attend: (T, d) becomes a batch of one and comes back") {
  const Tensor x = Tensor::parameter(values({5, 3}));
  CHECK(with_batch("layer", x, 3).shape() == Shape{1, 5, 3});
  CHECK(without_batch(with_batch("layer", x, 3), x).shape() == Shape{5, 3});
  const Tensor batch(values({2, 5, 3}));
  CHECK(with_batch("layer", batch, 3).value().data() == batch.value().data());
  CHECK(without_batch(batch, batch).shape() == Shape{2, 5, 3});
  CHECK(message_of<ShapeError>([&] { with_batch("layer", batch, 4); }) ==
        "layer: expected x (B, T, d_in 4) or (T, d_in), got (2, 5, 3)");
  CHECK(message_of<ShapeError>([&] {
          with_batch("layer", Tensor(values({1, 2, 5, 3})), 3);
        }) == "layer: expected x (B, T, d_in 3) or (T, d_in), got (1, 2, 5, 3)");
  CHECK(message_of<ShapeError>([&] { require_context("layer", batch, 4); }) ==
        "layer: expected at most context_length 4 tokens, got 5 in (2, 5, 3)");
  CHECK_NOTHROW(require_context("layer", batch, 5));
}

TEST_CASE("attend: every layer that attends hands out weights whose rows sum to 1") {
  int64_t rows = 0, layers = 0;
  for (const LayerCase& c : attending_layers({.dropout = 0.5})) {
    if (c.yaml.find("attention_weights: ") != std::string::npos) continue;  // made by no softmax
    CAPTURE(c.name);
    const auto layer = layer_of(c.yaml);
    perturb_parameters(*layer);
    Input in = input_for(*layer, {2, 7});
    for (const bool composed : {false, true}) {
      const Composed form(composed);
      for (const bool masked : {false, true}) {
        in.mask = masked ? mask_of({2, 7}, {0, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}) : Mask();
        const auto recorded = record(*layer, in);
        CHECK(!recorded.empty());
        for (const AttentionRecorder::Weights& weights : recorded) {
          CHECK(weights.weights.rank() == 4);
          CHECK(weights.weights.dim(0) == 2);
          rows += check_weights(weights.weights, layer->signature().causal, in.mask);
          ++layers;
        }
      }
    }
  }
  CHECK(layers == 4 * 50);
  CHECK(rows > 4000);
}

TEST_CASE("attend: the weights come under the layer's path, with a head an axis") {
  const auto paths_of = [](const std::string& attention) {
    const auto layer = layer_of(
        "{type: gpt, vocab_size: 11, context_length: 9, d_model: 12, "
        "num_heads: 3, num_layers: 2, attention: {type: " +
        attention + "}}");
    std::string lines;
    for (const auto& weights : record(*layer, input_for(*layer, {2, 7}))) {
      lines += text(weights.path, " ", weights.weights.shape(), "\n");
    }
    return lines;
  };
  CHECK(paths_of("multi_head_attention") ==
        "trf_blocks.0.att (2, 3, 7, 7)\ntrf_blocks.1.att (2, 3, 7, 7)\n");
  CHECK(paths_of("simple_attention") ==
        "trf_blocks.0.att (2, 1, 7, 7)\ntrf_blocks.1.att (2, 1, 7, 7)\n");
  CHECK(paths_of("self_attention_v2") ==
        "trf_blocks.0.att (2, 1, 7, 7)\ntrf_blocks.1.att (2, 1, 7, 7)\n");
  CHECK(paths_of("multi_head_attention_wrapper, num_heads: 3") ==
        "trf_blocks.0.att.heads.0 (2, 1, 7, 7)\ntrf_blocks.0.att.heads.1 (2, 1, 7, 7)\n"
        "trf_blocks.0.att.heads.2 (2, 1, 7, 7)\ntrf_blocks.1.att.heads.0 (2, 1, 7, 7)\n"
        "trf_blocks.1.att.heads.1 (2, 1, 7, 7)\ntrf_blocks.1.att.heads.2 (2, 1, 7, 7)\n");
}

TEST_CASE("attend: weights are taken before dropout") {
  int64_t compared = 0;
  for (const LayerCase& c : attending_layers({.dropout = 0.5})) {
    if (!c.attends_itself) continue;
    CAPTURE(c.name);
    const auto layer = layer_of(c.yaml);
    const Input in = input_for(*layer, {2, 7});
    for (const bool composed : {false, true}) {
      const Composed form(composed);
      layer->train();
      const auto training = record(*layer, in);
      layer->train(false);
      const auto evaluation = record(*layer, in);
      REQUIRE(training.size() == evaluation.size());
      for (size_t k = 0; k < training.size(); ++k, ++compared) {
        check_same_bits(training[k].weights, evaluation[k].weights);
      }
    }
  }
  CHECK(compared == 2 * 14);
}

TEST_CASE("attend: recording changes no number; without a recorder nothing is kept") {
  int64_t compared = 0;
  AttentionRecorder outer;
  for (const LayerCase& c : attending_layers({.dropout = 0.5})) {
    CAPTURE(c.name);
    const auto layer = layer_of(c.yaml);
    const Input in = input_for(*layer, {2, 7});
    Results recorded;
    {
      AttentionRecorder inner;
      recorded = run(*layer, in);
      CHECK(!inner.recorded.empty());
    }
    CHECK(outer.recorded.empty());
    CHECK(AttentionRecorder::current() == &outer);
    const Results plain = run(*layer, in);
    compared += check_same_bits(recorded, plain);
    CHECK(!outer.recorded.empty());
    outer.recorded.clear();
  }
  CHECK(compared > 200);
}
