#include "layers/packed_attention.h"

#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

const std::string of_twelve = "d_in: 12, d_out: 12, context_length: 9, num_heads: 3";
std::string packed(const std::string& options = "") {
  return "{type: packed_attention, " + of_twelve + (options.empty() ? "" : ", ") + options + "}";
}
std::string spelled_packed(const std::string& options = "") {
  return "{type: multi_head_attention, packed: true, " + of_twelve + options + "}";
}

}  // namespace

TEST_CASE("packed_attention: another spelling is multi_head_attention with packed: true") {
  const auto one = layer_of(packed("qkv_bias: true, rope: true")),
             other = layer_of(spelled_packed(", qkv_bias: true, rope: true"));
  CHECK(layer_registry().name_of(*other) == "packed_attention");
  const Input in{Tensor(values({2, 9, 12}))};
  CHECK(check_same_bits(run(*one, in), run(*other, in)) == 6);
  CHECK(message_of<ConfigError>([] {
          MultiHeadAttention(
              {.d_in = 4, .d_out = 4, .context_length = 4, .num_heads = 2, .packed = true});
        }) ==
        "multi_head_attention: expected packed false; PackedAttention is the class of packed "
        "ones");
}

TEST_CASE("packed_attention: drawn as torch.nn.MultiheadAttention") {
  const auto layer = layer_of(packed("qkv_bias: true"), 7);
  Generator generator(7);
  const auto drawn = [&](const Shape& shape, double bound) {
    Array a = Array::uninitialised(shape);
    fill_uniform(generator, {a.mutable_data(), static_cast<size_t>(a.size())}, -bound, bound);
    return a;
  };
  const Array out = drawn({12, 12}, 1 / std::sqrt(12.0));
  drawn({12}, 1 / std::sqrt(12.0));  // out_proj.bias, zeroed afterwards
  const Array in = drawn({36, 12}, std::sqrt(6.0 / (36 + 12)));
  CHECK(check_near(parameter_of(*layer, "out_proj.weight"), out, 1e-7) == 144);
  CHECK(check_near(parameter_of(*layer, "in_proj_weight"), in, 1e-7) == 432);
  check_same_bits(parameter_of(*layer, "in_proj_bias"), Array::zeros({36}));
  check_same_bits(parameter_of(*layer, "out_proj.bias"), Array::zeros({12}));
  CHECK(generator.state() == streams().init().state());
}

TEST_CASE("packed_attention: equals multi-head attention with its matrix in three") {
  const auto split_up = layer_of("{type: multi_head_attention, " + of_twelve + ", qkv_bias: true}");
  const auto whole = layer_of(packed("qkv_bias: true"));
  perturb_parameters(*whole);
  const std::vector<std::string> names{"W_query", "W_key", "W_value"};
  const auto cut = [&](const Results& of_whole) {
    Results parts = of_whole;
    for (int64_t k = 0; k < 3; ++k) {
      const std::string name = names[static_cast<size_t>(k)];
      parts[name + ".weight"] = rows_between(of_whole.at("in_proj_weight"), 12 * k, 12 * (k + 1));
      parts[name + ".bias"] = rows_between(of_whole.at("in_proj_bias"), 12 * k, 12 * (k + 1));
    }
    parts.erase("in_proj_weight");
    parts.erase("in_proj_bias");
    return parts;
  };
  Results parameters;
  for (const NamedParameter& p : whole->parameters()) parameters[p.name] = p.tensor.value();
  for (const auto& [name, value] : cut(parameters)) set_parameter(*split_up, name, value);
  const Input in{Tensor(values({2, 9, 12})), Mask::full({2, 9}, 1)};
  CHECK(check_near(run(*split_up, in), cut(run(*whole, in))) == 10);
}
