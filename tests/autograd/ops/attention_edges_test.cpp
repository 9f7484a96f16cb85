// Scores of any size, keys that are hidden, empty or infinite, and nothing to attend to.
#include "tests/support/attention_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {
constexpr real infinity = std::numeric_limits<real>::infinity();
}  // namespace

TEST_CASE("scaled_dot_product_attention: rows with nothing to attend to") {
  // Item 1 has no keys at all; with 4 keys for 6 causal queries, the first two see none.
  AttentionOptions options;
  options.num_heads = 2;
  options.causal = true;
  options.mask = Mask::from({2, 4}, {1, 1, 1, 1, 0, 0, 0, 0});
  const std::vector<Array> inputs = {values({2, 6, 6}), values({2, 4, 6}), values({2, 4, 6})};
  for (const Form form : both_forms) {
    const std::vector<Array> r = results(form, options, inputs);
    const int64_t item = 6 * 6;
    for (const size_t i : {0, 1}) {  // y and dq
      CHECK(all_zero(r[i], 0, 2 * 6));
      CHECK(!all_zero(r[i], 2 * 6, item));
      CHECK(all_zero(r[i], item, 2 * item));
    }
    for (const size_t i : {2, 3}) {  // dk and dv
      CHECK(!all_zero(r[i], 0, 4 * 6));
      CHECK(all_zero(r[i], 4 * 6, 2 * 4 * 6));
    }
  }
}

TEST_CASE("scaled_dot_product_attention: one key to see, no gradient through its weight") {
  AttentionOptions options;
  options.num_heads = 2;
  AttentionOptions masked = options;
  masked.mask = Mask::from({2, 5}, {0, 0, 1, 0, 0, 1, 0, 0, 0, 0});
  for (const Form form : both_forms) {
    const std::vector<Array> one_key =
        results(form, options, {values({2, 3, 34}), values({2, 1, 34}), values({2, 1, 34})});
    const std::vector<Array> one_left =
        results(form, masked, {values({2, 5, 34}), values({2, 5, 34}), values({2, 5, 34})});
    for (const size_t i : {1, 2}) {  // dq and dk
      CHECK(all_zero(one_key[i], 0, one_key[i].size()));
      CHECK(all_zero(one_left[i], 0, one_left[i].size()));
    }
    CHECK(!all_zero(one_key[3], 0, one_key[3].size()));
  }
}

TEST_CASE("scaled_dot_product_attention: scores of 1e5 and of -infinity") {
  AttentionOptions options;
  options.scale = 1;
  const Array q = Array::from({1, 3, 1}, {1, -1, 1});
  const Array v = Array::from({1, 3, 1}, {2, 3, 5});
  for (const Form form : both_forms) {
    // Rows of scores: 1e5 1e5 -1e5, its negative, and the first again.
    const Array k = Array::from({1, 3, 1}, {100000, 100000, -100000});
    const std::vector<Array> r = results(form, options, {q, k, v});
    check_values(r[0], {1, 3, 1}, {2.5, 5, 2.5});
    for (const Array& a : r) {
      for (const real x : a.span()) CHECK(std::isfinite(x));
    }
    // A key of -infinity is one that nobody attends to, or, under q = -1, gives NaN as in PyTorch.
    const Array one = Array::from({1, 1, 1}, {1});
    const Array k2 = Array::from({1, 3, 1}, {0, -infinity, 0});
    check_values(form(one, k2, v, options), {1, 1, 1}, {3.5});
    const Array k3 = Array::full({1, 3, 1}, -infinity);
    check_values(form(one, k3, v, options), {1, 1, 1}, {0});
    CHECK(std::isnan(form(Array::from({1, 1, 1}, {-1}), k2, v, options).item()));
  }
}

TEST_CASE("scaled_dot_product_attention: a key of -infinity among many") {
  const int64_t t = 128, d = 64, hidden = 5;
  const Array q = values({1, t, d}, 0.5, 1.5), v = values({1, t, d});
  Array k = values({1, t, d}, -1, 1);
  k.mutable_data()[hidden * d] = -infinity;
  const std::vector<Array> tiles = results(both_forms[0], {}, {q, k, v});
  const std::vector<Array> composed = results(both_forms[1], {}, {q, k, v});
  CHECK(distance(tiles[0], composed[0]) <= 2e-5);
  CHECK(distance(tiles[2], composed[2]) <= 2e-5);
  CHECK(distance(tiles[3], composed[3]) <= 2e-5);
  CHECK(all_zero(tiles[3], hidden * d, (hidden + 1) * d));
  for (int64_t i = 0; i < t * d; ++i) {  // 0 times the key
    REQUIRE(std::isnan(tiles[1].data()[i]) == (i % d == 0));
    REQUIRE(std::isnan(composed[1].data()[i]) == (i % d == 0));
  }
}

TEST_CASE("scaled_dot_product_attention: a hidden key of any size leaves the others their digits") {
  const int64_t t = 100, d = 96, hidden = 7;
  AttentionOptions options;
  options.mask = Mask::full({1, t}, true);
  options.mask.mutable_data()[hidden] = false;
  const Array q = values({1, t, d});
  Array k = values({1, t, d}, -1, 1, 2), v = values({1, t, d}, -1, 1, 3);
  for (int64_t i = hidden * d; i < (hidden + 1) * d; ++i) {
    k.mutable_data()[i] *= 1 << 30;
    v.mutable_data()[i] *= 1 << 30;
  }
  const std::vector<Array> tiles = results(both_forms[0], options, {q, k, v});
  const std::vector<Array> composed = results(both_forms[1], options, {q, k, v});
  for (size_t i = 0; i < 4; ++i) {
    CHECK(distance(tiles[i], composed[i]) <= 2e-5);
  }
}

TEST_CASE("scaled_dot_product_attention: scores of 1e9 over several strips of keys") {
  // The passes may see other keys at a time.
  const int64_t t = 1024, d = 64;
  Array q = values({1, t, d}, -30000, 30000), k = values({1, t, d}, -30, 30, 2);
  for (int64_t i = 0; i < t * d; ++i) {
    k.mutable_data()[i] *= i < t * d / 2 ? 1 : 1000;
    if (i % d >= d / 2) {  // small parts of keys count as much as large ones
      q.mutable_data()[i] *= 1 << 13;
      k.mutable_data()[i] /= 1 << 13;
    }
  }
  AttentionOptions options;
  options.causal = true;
  options.scale = 1;
  for (const Array& a : results(both_forms[0], options, {q, k, values({1, t, d}, -1, 1, 3)})) {
    for (const real x : a.span()) REQUIRE(std::isfinite(x));
  }
}

TEST_CASE("scaled_dot_product_attention: nothing to attend with, or to") {
  const AttentionOptions options;
  const auto gradients = [&](int64_t b, int64_t t, int64_t s) {
    return results(scaled_dot_product_attention, options,
                   {values({b, t, 4}), values({b, s, 4}), values({b, s, 4})});
  };
  CHECK(gradients(0, 3, 3)[0].shape() == Shape{0, 3, 4});
  const std::vector<Array> no_queries = gradients(1, 0, 3), no_keys = gradients(1, 3, 0);
  CHECK(all_zero(no_queries[2], 0, 12));
  CHECK(all_zero(no_queries[3], 0, 12));
  CHECK(all_zero(no_keys[0], 0, 12));
  CHECK(all_zero(no_keys[1], 0, 12));
}
