#include "layers/extras/alternatives/latent_attention.h"

#include "autograd/ops/slice.h"
#include "tests/support/sequence_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

const std::vector<std::string> latent_options{
    "", ", d_latent: 3, d_query_latent: 5, d_rope: 4, dropout: 0.2",
    ", rope: false, out_bias: false", ", d_query_latent: 2, rope: false, d_latent: 9",
    ", d_rope: 2, rope_base: 50"};

std::string with_latent(const std::string& options) {
  return text("{type: latent_attention, d_in: 5, d_out: 6, context_length: 12, num_heads: 2",
              options, "}");
}

}  // namespace

TEST_CASE("latent_attention: from latents in a cache equals all tokens at once") {
  for (const std::string& options : latent_options) {
    const auto layer = layer_of(with_latent(options));
    perturb_parameters(*layer);
    layer->train(false);
    check_parts(*layer, values({9, 5}), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    check_parts(*layer, values({9, 5}), {0, 4, 5, 8, 9});  // several after others, too
  }
}

TEST_CASE("latent_attention: what replaces the up-projections counts in a cache, too") {
  const NoGrad off;
  LatentAttention layer({.d_in = 5, .d_out = 6, .context_length = 9, .num_heads = 2});
  const Tensor x = values({9, 5});
  const Array before = layer(x).value();
  layer.replace_child(*layer.W_UK, std::make_unique<Doubled>(*layer.W_UK));
  layer.replace_child(*layer.W_UV, std::make_unique<Doubled>(*layer.W_UV));
  CHECK(layer(x).value().data()[53] != before.data()[53]);
  check_parts(layer, x, {0, 4, 5, 7, 8, 9});
}

TEST_CASE("latent_attention: observers see the weights of a token from the cache") {
  const NoGrad off;
  const auto layer = layer_of(with_latent(""));
  const Tensor x = values({5, 5});
  const AttentionRecorder recorder;
  check_parts(*layer, x, {0, 4, 5});
  const Array whole = recorder.recorded.at(0).weights, last = recorder.recorded.at(2).weights;
  check_near(last, slice(Tensor(whole), 2, 4, 5).value());  // (1, H, 1, T) of (1, H, T, T)
}

TEST_CASE("latent_attention: a token in the cache is d_latent + d_rope numbers") {
  const NoGrad off;
  const auto bytes = [](const std::string& fields) {
    const auto layer =
        layer_of(text("{d_in: 64, d_out: 64, num_heads: 2, context_length: 512, ", fields, "}"));
    layer->train(false);
    Cache cache(512);
    Input in(values({1, 64}));
    in.cache = &cache;
    const int64_t before = pool::stats().live_bytes;
    (void)(*layer)(in);
    return pool::stats().live_bytes - before;
  };
  const auto real_size = static_cast<int64_t>(sizeof(real));
  const int64_t both = bytes("type: multi_head_attention");
  CHECK(both >= 512 * 128 * real_size);
  const int64_t latents = bytes("type: latent_attention, d_latent: 12, d_rope: 4");
  CHECK(latents >= 512 * 16 * real_size);
  CHECK(latents < both / 6);
}

TEST_CASE("latent_attention: a cache is for one sequence of as many tokens as it holds") {
  const auto layer = layer_of(with_latent(""));
  CHECK(message_of<ShapeError>([&] {
          const NoGrad off;
          Cache cache(3);
          Input in(values({2, 2, 5}));
          in.cache = &cache;
          (*layer)(in);
        }) ==
        "latent_attention with a cache: expected x (1, t, d_in) and at most 3 tokens, got 2 "
        "sequences, 0 tokens and 2 more");
}
