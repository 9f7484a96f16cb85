#include "layers/wings/alternatives/latent_attention.h"

#include "autograd/ops/concat.h"
#include "autograd/ops/slice.h"
#include "autograd/threads/parallel.h"
#include "layers/module/evaluation_mode.h"
#include "tests/support/layer_cases.h"

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

// The output for x (T, d_in), the tokens between two cuts at a time, with a cache.
Array latent_by_parts(Module& layer, const Tensor& x, const std::vector<int64_t>& cuts) {
  const EvaluationMode evaluating(layer);
  Cache cache(x.dim(0));
  std::vector<Tensor> parts;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    Input in(slice(x, 0, cuts[i], cuts[i + 1]));
    in.cache = &cache;
    parts.push_back(layer(in));
    cache.advance(cuts[i + 1] - cuts[i]);
  }
  return concat(parts, 0).value();
}

}  // namespace

TEST_CASE("latent_attention: from latents in a cache equals all tokens at once") {
  const NoGrad off;
  for (const std::string& options : latent_options) {
    const auto layer = layer_of(with_latent(options));
    perturb_parameters(*layer);
    layer->train(false);
    const Tensor x = values({9, 5});
    const Array all = (*layer)(x).value();
    check_near(latent_by_parts(*layer, x, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), all);
    check_near(latent_by_parts(*layer, x, {0, 4, 5, 8, 9}), all);  // several after others, too
  }
}

TEST_CASE("latent_attention: what is added to the up-projections counts in a cache, too") {
  const NoGrad off;
  LatentAttention layer({.d_in = 5, .d_out = 6, .context_length = 9, .num_heads = 2});
  const Tensor x = values({9, 5});
  const Array before = layer(x).value();
  layer.W_UK->add("more", layer_of("{type: linear, d_in: 1, d_out: 6, bias: false}", 5));
  layer.W_UV->add("more", layer_of("{type: linear, d_in: 1, d_out: 6, bias: false}", 6));
  const Array all = layer(x).value();
  CHECK(all.data()[53] != before.data()[53]);
  check_near(latent_by_parts(layer, x, {0, 4, 5, 7, 8, 9}), all);
}

TEST_CASE("latent_attention: observers see the weights of a token from the cache") {
  const NoGrad off;
  const auto layer = layer_of(with_latent(""));
  const Tensor x = values({5, 5});
  Array whole, last;  // (1, H, T, T), (1, H, 1, T)
  {
    const AttentionRecorder recorder;
    (*layer)(x);
    whole = recorder.recorded.at(0).weights;
  }
  {
    const AttentionRecorder recorder;
    (void)latent_by_parts(*layer, x, {0, 4, 5});
    last = recorder.recorded.at(1).weights;
  }
  check_near(last, slice(Tensor(whole), 2, 4, 5).value());
}

TEST_CASE("latent_attention: the same bits for 1 to 8 threads") {
  const int before = num_threads();
  const auto layer = layer_of(
      "{type: latent_attention, d_in: 48, d_out: 48, context_length: 140, num_heads: 3, d_latent: "
      "20, d_query_latent: 30, dropout: 0.2}");
  const Tensor x = values({3, 140, 48});
  set_num_threads(1);
  const Results alone = run(*layer, x);
  int64_t compared = 0;
  for (const int threads : {2, 3, 8}) {
    set_num_threads(threads);
    compared += check_same_bits(run(*layer, x), alone);
  }
  set_num_threads(before);
  CHECK(compared == 3 * 13);
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
  CHECK(error_of([&] {
          const NoGrad off;
          Cache cache(3);
          Input in(values({2, 2, 5}));
          in.cache = &cache;
          (*layer)(in);
        }) ==
        "latent_attention with a cache: expected x (1, t, d_in) and at most 3 tokens, got 2 "
        "sequences, 0 tokens and 2 more");
}
