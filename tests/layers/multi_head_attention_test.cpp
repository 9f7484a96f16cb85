#include "layers/multi_head_attention.h"

#include "autograd/array/storage.h"
#include "autograd/ops/concat.h"
#include "layers/module/cache.h"
#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

const std::string sizes = "d_in: 12, d_out: 12, context_length: 9, num_heads: 3";
std::string mha(const std::string& options = "") {
  return "{type: multi_head_attention, " + sizes + (options.empty() ? "" : ", ") + options + "}";
}

bool comes_from(Node& node, const std::string& op) {
  const auto inputs = node.inputs();
  return node.op() == op || std::any_of(inputs.begin(), inputs.end(), [&](const NodeRef& input) {
           return input && comes_from(*input.get(), op);
         });
}

}  // namespace

TEST_CASE("multi_head_attention: grouped, keys and values are narrower") {
  // Equals a layer of three key and value heads that all have the weights of the shared one.
  const auto grouped = layer_of(mha("num_kv_heads: 1"));
  const auto full = layer_of(mha());
  for (const NamedParameter& p : grouped->parameters()) {
    const Tensor value(p.tensor.value());
    const bool shared = value.dim(0) == 4;
    set_parameter(*full, p.name, shared ? concat({value, value, value}, 0).value() : value.value());
  }
  const Tensor x(values({2, 9, 12}));
  check_near((*grouped)(x).value(), (*full)(x).value(), 20 * rounding);
}

TEST_CASE("multi_head_attention: rope tells positions apart by their distance alone") {
  const auto layer = layer_of(mha("rope: true"));
  Array x = values({1, 9, 12});
  std::copy_n(x.data(), 12, x.mutable_data() + 4 * 12);       // the same token at 0 and 4 ...
  std::copy_n(x.data() + 12, 12, x.mutable_data() + 5 * 12);  // ... and at 1 and 5
  const auto y_of = [&](const std::vector<uint8_t>& keys) {
    return run(*layer, Input{Tensor(x), Mask::from({1, 9}, keys)}).at("y");
  };
  const Array early = y_of({1, 1, 0, 0, 0, 0, 0, 0, 0});
  const Array late = y_of({0, 0, 0, 0, 1, 1, 0, 0, 0});
  check_near(rows_between(early.reshaped({9, 12}), 1, 2),
             rows_between(late.reshaped({9, 12}), 5, 6), 20 * rounding);
}

TEST_CASE("multi_head_attention: with an identity for out_proj it is the wrapper") {
  const auto heads = layer_of(
      "{type: multi_head_attention_wrapper, d_in: 12, d_out: 4, "
      "context_length: 9, num_heads: 3, qkv_bias: true}");
  const auto layer = layer_of(mha("qkv_bias: true"));
  const auto bare = layer_of(mha("qkv_bias: true, out_proj: false"));
  Array identity = Array::zeros({12, 12});
  for (int64_t i = 0; i < 12; ++i) identity.mutable_data()[13 * i] = 1;
  set_parameter(*layer, "out_proj.weight", identity);
  set_parameter(*layer, "out_proj.bias", Array::zeros({12}));
  // Head h of a projection is rows 4 h to 4 h + 4 of its weight and bias.
  for (const std::string name : {"W_query", "W_key", "W_value"}) {
    for (int64_t h = 0; h < 3; ++h) {
      for (const std::string part : {".weight", ".bias"}) {
        set_parameter(*heads, text("heads.", h, ".", name, part),
                      rows_between(parameter_of(*layer, name + part), 4 * h, 4 * h + 4));
      }
    }
  }
  copy_parameters(*layer, *bare);
  const Tensor x(values({2, 9, 12}));
  const Results of_wrapper = run(*heads, x), of_layer = run(*layer, x);
  CHECK(check_near(run(*bare, x), of_layer, 20 * rounding, {"out_proj.weight", "out_proj.bias"}) ==
        8);
  int64_t compared = 0;
  for (const std::string name : {"W_query", "W_key", "W_value"}) {
    for (int64_t h = 0; h < 3; ++h) {
      const Array head = of_wrapper.at(text("heads.", h, ".", name, ".weight"));
      const Array rows = rows_between(of_layer.at(name + ".weight"), 4 * h, 4 * h + 4);
      compared += check_near(head, rows, 100 * rounding);
    }
  }
  CHECK(compared == 3 * 144);
  CHECK(check_near(of_layer.at("y"), of_wrapper.at("y"), 20 * rounding) == 2 * 9 * 12);
  CHECK(check_near(of_layer.at("x"), of_wrapper.at("x"), 100 * rounding) == 2 * 9 * 12);
}

TEST_CASE("multi_head_attention: scale") {
  const Tensor x(values({2, 9, 12}));
  for (const std::string form : {"causal: false", "causal: false, packed: true"}) {
    CAPTURE(form);
    // auto is 1 / sqrt(4): the same as 0.5, and as a scale of 1 with queries half as large.
    const Array y = (*layer_of(mha(form)))(x).value();
    check_same_bits(y, (*layer_of(mha(form + ", scale: 0.5")))(x).value());
    const Array unscaled = (*layer_of(mha(form + ", scale: 1")))(x).value();
    CHECK(distance({{"y", unscaled}}, {{"y", y}}) > 1e-3);
    // 0 weighs all values equally: every token gets the same.
    const Array mean = (*layer_of(mha(form + ", scale: 0")))(x).value();
    check_near(rows_between(mean.reshaped({18, 12}), 0, 1),
               rows_between(mean.reshaped({18, 12}), 8, 9), 20 * rounding);
  }
}

TEST_CASE("multi_head_attention: a window hides what lies before it, but not the sinks") {
  const Array x = values({1, 9, 12});
  for (const std::string form : {"", "packed: true, ", "num_kv_heads: 1, alibi: true, "}) {
    CAPTURE(form);
    for (const int64_t sinks : {0, 2}) {
      const auto layer = layer_of(mha(form + text("window: 3, sinks: ", sinks)));
      const Array y = (*layer)(Tensor(x)).value();
      for (int64_t changed = 0; changed < 9; ++changed) {
        Array other = x.clone();
        for (int64_t k = 0; k < 12; k += 3) other.mutable_data()[changed * 12 + k] += 1;
        const Array now = (*layer)(Tensor(other)).value();
        for (int64_t t = 0; t < 9; ++t) {
          const bool sees = t >= changed && (t < changed + 3 || changed < sinks);
          const bool same =
              std::equal(y.data() + t * 12, y.data() + (t + 1) * 12, now.data() + t * 12);
          CHECK(same == !sees);
        }
      }
    }
  }
}

TEST_CASE("multi_head_attention: generation with a cache, whatever the fields") {
  int64_t compared = 0;
  for (const std::string options :
       {"window: 3", "window: 4, sinks: 2", "soft_cap: 0.7", "alibi: true", "qk_norm: rms_norm",
        "window: 2, rope: true, qk_norm: layer_norm", "packed: true, window: 3, soft_cap: 2",
        "attention_weights: none, window: 3", "num_kv_heads: 1, alibi: true, window: 5",
        "rope: true, rope_scaling: {factor: 4, original_max_position_embeddings: 9}",
        "rope: true, head_dim: 6, num_kv_heads: 1, qk_norm: rms_norm",
        "rope: true, rotary_fraction: 0.5", "packed: true, rope: true, rotary_fraction: 0.5"}) {
    CAPTURE(options);
    const auto layer = layer_of(mha(options));
    layer->train(false);
    const NoGrad off;
    const Array x = values({1, 9, 12}), whole = (*layer)(Tensor(x)).value();
    Cache cache(9);
    for (int64_t t = 0; t < 9; t += t == 0 ? 3 : 1) {  // three tokens, then one at a time
      const int64_t count = t == 0 ? 3 : 1;
      Input in{Tensor(rows_between(x.reshaped({9, 12}), t, t + count).reshaped({1, count, 12}))};
      in.cache = &cache;
      const Array y = (*layer)(in).value();
      cache.advance(count);
      compared += check_near(y.reshaped({count, 12}),
                             rows_between(whole.reshaped({9, 12}), t, t + count), 20 * rounding);
    }
  }
  CHECK(compared == 13 * 9 * 12);
}

TEST_CASE("multi_head_attention: with qk_norm, queries of any length give the same weights") {
  const auto layer = layer_of(mha("qk_norm: layer_norm"));
  const Tensor x(values({2, 9, 12}));
  const Array y = (*layer)(x).value();
  Array larger = parameter_of(*layer, "W_query.weight").clone();
  for (int64_t i = 0; i < larger.size(); ++i) larger.mutable_data()[i] *= 3000;
  set_parameter(*layer, "W_query.weight", larger);
  CHECK(distance({{"y", (*layer)(x).value()}}, {{"y", y}}) < 1e-2);
}

TEST_CASE(
    "multi_head_attention: head_dim is d_out / num_heads unless given, norm_eps that of qk_norm") {
  const Tensor x(values({2, 9, 12}));
  check_same_bits((*layer_of(mha("head_dim: 4")))(x).value(), (*layer_of(mha()))(x).value());
  CHECK(distance({{"y", (*layer_of(mha("qk_norm: rms_norm, norm_eps: 2")))(x).value()}},
                 {{"y", (*layer_of(mha("qk_norm: rms_norm")))(x).value()}}) > 1e-3);
}

TEST_CASE("multi_head_attention: (T, d) is a batch of one, its own and everything's around it") {
  int64_t compared = 0;
  for (const LayerCase& c : attending_layers({})) {
    CAPTURE(c.name);
    const auto layer = layer_of(c.yaml);
    const Input one = input_for(*layer, {7});
    const Input as_batch = one.ids ? Input(one.ids.reshaped({1, 7}))
                                   : Input(Tensor(one.x.value().reshaped({1, 7, 12})));
    Results want = run(*layer, as_batch);
    for (const char* name : {"y", "x"}) {
      if (want.count(name) == 0) continue;
      CHECK(want[name].dim(0) == 1);
      want[name] = want[name].reshaped(want[name].shape().without(0));
    }
    compared += check_near(run(*layer, one), want);
  }
  CHECK(compared > 200);
}

TEST_CASE("multi_head_attention: a config made in C++ is checked as well") {
  CHECK(message_of<ConfigError>([] {
          MultiHeadAttention({8, 8, 4, 3});
        }) == "num_heads: must divide d_out: d_out is 8, num_heads is 3");
}
