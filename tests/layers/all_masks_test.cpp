// Padding masks in every attention layer and in blocks and models around it, with the causal mask
// in causal ones, fused and composed.
#include "autograd/array/storage.h"
#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

constexpr int64_t batch = 2, tokens = 7;

// Item 0 hides keys 0, 3 and 6, so in a causal layer its query 0 sees nothing. Item 1 hides none.
Mask some_keys() { return mask_of({batch, tokens}, {0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1}); }

// Repeats the mask for each query: (B, T) -> (B, 1, T, T).
Mask by_query(const Mask& keys) {
  Mask full = Mask::uninitialised({batch, 1, tokens, tokens});
  for (int64_t i = 0; i < full.size(); ++i) {
    full.mutable_data()[i] = keys.data()[i / (tokens * tokens) * tokens + i % tokens];
  }
  return full;
}

void for_all(const std::function<void(const LayerCase&, Module&, Input)>& check) {
  int64_t cases = 0;
  for (const LayerCase& c : attending_layers({})) {
    CAPTURE(c.name);
    const auto layer = layer_of(c.yaml);
    perturb_parameters(*layer);
    for (const bool composed : {false, true}) {
      CAPTURE(composed);
      const Composed form(composed);
      check(c, *layer, input_for(*layer, {batch, tokens}));
      ++cases;
    }
  }
  CHECK(cases == 2 * 33);
}

bool same_bits(const Array& a, const Array& b, int64_t first, int64_t count) {
  return std::memcmp(a.data() + first, b.data() + first,
                     sizeof(real) * static_cast<size_t>(count)) == 0;
}

bool all_zero(const Array& a) {
  return std::all_of(a.data(), a.data() + a.size(), [](real v) { return v == 0; });
}

// Returns a copy of the input with one token of one item changed.
Input changed_at(const Input& in, int64_t item, int64_t token) {
  Input other = in;
  if (in.ids) {
    other.ids = in.ids.clone();
    int32_t& id = other.ids.mutable_data()[item * tokens + token];
    id = (id + 1) % 11;
  } else {
    Array x = in.x.value().clone();
    const int64_t d = x.dim(2);
    real* row = x.mutable_data() + (item * tokens + token) * d;
    for (int64_t j = 0; j < d; j += 3) row[j] -= 1;  // uneven: a norm would hide an even change
    other.x = Tensor(x);
  }
  return other;
}

}  // namespace

TEST_CASE("masks: one that hides nothing is none, (B, T) is (B, 1, T, T) of equal rows") {
  int64_t compared = 0;
  for_all([&](const LayerCase&, Module& layer, Input in) {
    const Results without = run(layer, in);
    in.mask = Mask::full({batch, tokens}, 1);
    compared += check_near(run(layer, in), without);
    in.mask = some_keys();
    const Results keys = run(layer, in);
    CHECK_FALSE(same_bits(keys.at("y"), without.at("y"), 0, keys.at("y").size()));
    in.mask = by_query(some_keys());
    compared += check_near(run(layer, in), keys);
    // One mask for the whole batch.
    in.mask = Mask::full({1, 1, tokens, tokens}, 1);
    compared += check_near(run(layer, in), without);
  });
  CHECK(compared > 1000);
}

TEST_CASE("masks: any number but 0 means may attend") {
  for_all([&](const LayerCase&, Module& layer, Input in) {
    in.mask = some_keys();
    const Results ones = run(layer, in);
    in.mask = in.mask.clone();
    for (int64_t i = 0; i < in.mask.size(); ++i) in.mask.mutable_data()[i] *= 255;
    CHECK(check_same_bits(run(layer, in), ones) > 0);
  });
}

TEST_CASE("masks: what is hidden is seen by no one else") {
  int64_t hidden_compared = 0, beside_nan = 0, seen = 0;
  for_all([&](const LayerCase&, Module& layer, Input in) {
    layer.train(false);
    in.mask = some_keys();
    const Array y = run(layer, in).at("y");
    const int64_t width = y.size() / (batch * tokens);
    for (const int64_t key : {0, 3, 6}) {
      const Array other = run(layer, changed_at(in, 0, key)).at("y");
      for (int64_t t = 0; t < batch * tokens; ++t) {
        if (t == key) continue;  // its own row may change: it is still a query
        CHECK(same_bits(other, y, t * width, width));
        ++hidden_compared;
      }
    }
    if (in.x) {
      Array x = in.x.value().clone();
      for (int64_t i = 0; i < tokens * x.dim(2); ++i) {
        if (i / x.dim(2) % 3 == 0) x.mutable_data()[i] = not_a_number;
      }
      const Array of_nan = run(layer, in.with(Tensor(x))).at("y");
      for (int64_t t = 0; t < batch * tokens; ++t) {
        if (t < tokens && t % 3 == 0) continue;
        CHECK(same_bits(of_nan, y, t * width, width));
        ++beside_nan;
      }
    }
    const Array other = run(layer, changed_at(in, 0, 1)).at("y");  // key 1 is not hidden
    seen += same_bits(other, y, 4 * width, width) ? 0 : 1;
    CHECK(same_bits(other, y, tokens * width, tokens * width));  // the other item
  });
  CHECK(hidden_compared == 2 * 33 * 3 * 13);
  CHECK(beside_nan > 2 * 15 * 11);
  CHECK(seen == 2 * 33);
}

TEST_CASE("masks: a query that sees nothing gives zeros and zero gradients") {
  int64_t layers = 0;
  for_all([&](const LayerCase& c, Module& layer, Input in) {
    if (!c.attends_itself) return;
    // Query 2 of item 0 sees nothing. Query 0 sees only later keys: nothing in a causal layer.
    Mask mask = Mask::full({batch, 1, tokens, tokens}, 1);
    std::fill_n(mask.mutable_data() + 2 * tokens, tokens, uint8_t{0});
    mask.mutable_data()[0] = 0;
    in.mask = mask;
    const bool projects = c.name.starts_with("multi_head") || c.name.starts_with("packed");
    const bool bare = c.name == "multi_head bare";
    Array bias;  // the output projection of zeros
    if (projects && !bare) bias = parameter_of(layer, "out_proj.bias");
    const Results results = run(layer, in);
    const int64_t width = results.at("y").dim(2);
    for (int64_t j = 0; j < width; ++j) {
      const real nothing = bias ? bias.data()[j] : 0;
      CHECK(results.at("y").data()[2 * width + j] == nothing);
      CHECK((results.at("y").data()[j] == nothing) == layer.signature().causal);
    }
    // With a cotangent in that row only, all gradients are zero except that of out_proj's bias.
    Array dy = Array::zeros(results.at("y").shape());
    std::fill_n(dy.mutable_data() + 2 * width, width, real{1});
    for (const auto& tensor : run(layer, in, dy)) {
      const std::string& name = tensor.first;
      const Array& gradient = tensor.second;
      CAPTURE(name);
      if (name != "y") CHECK(all_zero(gradient) == (name != "out_proj.bias"));
    }
    ++layers;
  });
  CHECK(layers == 2 * 13);
}

TEST_CASE("masks: all hidden, nothing is NaN anywhere") {
  int64_t compared = 0;
  for_all([&](const LayerCase&, Module& layer, Input in) {
    in.mask = Mask::full({batch, tokens}, 0);
    const Results results = run(layer, in);
    for (const auto& tensor : results) {
      const std::string& name = tensor.first;
      const Array& array = tensor.second;
      CAPTURE(name);
      for (const real v : array.span()) REQUIRE(std::isfinite(v));
      if (name.find("W_query") != std::string::npos || name.find("W_key") != std::string::npos) {
        CHECK(all_zero(array));
        ++compared;
      }
    }
  });
  CHECK(compared > 100);
}

TEST_CASE("masks: fused and composed agree, with dropout, masked or not") {
  int64_t compared = 0;
  for (const LayerCase& c : attending_layers({.dropout = 0.2})) {
    CAPTURE(c.name);
    const auto layer = layer_of(c.yaml);
    perturb_parameters(*layer);
    Input in = input_for(*layer, {batch, tokens});
    Mask uneven = Mask::uninitialised({batch, 1, tokens, tokens});
    for (int64_t i = 0; i < uneven.size(); ++i) uneven.mutable_data()[i] = i * i % 7 < 3 ? 1 : 0;
    for (const Mask& mask : {Mask(), some_keys(), uneven}) {
      in.mask = mask;
      const Results fused_results = run(*layer, in);
      const Composed form;
      compared += check_near(run(*layer, in), fused_results, 100 * rounding);
    }
  }
  CHECK(compared > 600);
}

TEST_CASE("masks: refused unless they fit") {
  int64_t refused = 0;
  for_all([&](const LayerCase&, Module& layer, Input in) {
    for (const Shape& shape : {Shape{tokens, tokens}, Shape{batch, tokens + 1},
                               Shape{batch, tokens, tokens}, Shape{batch, 1, tokens, 1},
                               Shape{3, 1, tokens, tokens}, Shape{batch, 5, tokens, tokens}}) {
      CAPTURE(shape);
      in.mask = Mask::full(shape, 1);
      const std::string message = message_of<ShapeError>([&] { layer(in); });
      CHECK(message.find("expected a mask (B, S)") != std::string::npos);
      CHECK(message.find(text("got ", shape)) != std::string::npos);
      ++refused;
    }
  });
  CHECK(refused == 2 * 33 * 6);
}

TEST_CASE("masks: in a dry run they are not read") {
  const DryRun dry;
  for (const LayerCase& c : attending_layers({})) {
    CAPTURE(c.name);
    const auto layer = layer_of(c.yaml);
    Input in = layer->signature().ids ? Input(Ids::uninitialised({batch, tokens}))
                                      : Input(Tensor(Array::uninitialised({batch, tokens, 12})));
    const int64_t before = pool::stats().reserved_bytes;
    in.mask = Mask::uninitialised({1, 1, tokens, tokens});
    const Tensor y = (*layer)(in);
    CHECK(y.rank() == 3);
    if (y.requires_grad()) y.backward(Array::uninitialised(y.shape()));
    CHECK(pool::stats().reserved_bytes >= before);
  }
}
