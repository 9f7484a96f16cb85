// What a field changes in the meaning of weights is told, for every field of every layer.
#include <doctest/doctest.h>

#include <algorithm>

#include "layers/module/registry.h"
#include "layers/multi_head_attention.h"
#include "tools/extras/checks/layers/layer_inputs.h"
#include "tools/extras/checks/layers/variants.h"
#include "tools/extras/fine_tuning/train/source.h"
#include "train/yaml/yaml.h"

using namespace heed;

namespace {

bool same_tensors(const std::vector<NamedParameter>& a, const std::vector<NamedParameter>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.name == y.name && x.tensor.shape() == y.tensor.shape();
  });
}

// True if the weights of one layer fit the other and are another function there. Checks that the
// two then differ in a field.
bool differ_in_meaning(const LayerChoice& ours, const LayerChoice& theirs) {
  const std::unique_ptr<Module> first = make_layer(ours), second = make_layer(theirs);
  Generator generator(3);
  perturb(*first, generator);
  std::vector<NamedParameter> from = first->parameters(), to = second->parameters();
  if (!same_tensors(from, to)) return false;
  const NoGrad off;
  for (size_t k = 0; k < to.size(); ++k) {
    const Array numbers = from[k].tensor.value();
    std::copy_n(numbers.data(), numbers.size(), to[k].tensor.mutable_value());
  }
  const Signature sizes = sized_signature(*first);
  const Input in = random_input(sizes, input_forms(sizes, 6).front(), generator);
  first->train(false);
  second->train(false);
  const Array y = (*first)(in).value(), other = (*second)(in).value();
  if (std::ranges::equal(y.span(), other.span())) return false;
  CHECK_FALSE(differences(ours, theirs).empty());
  return true;
}

}  // namespace

TEST_CASE("weights: every field of every layer that changes what they mean is told") {
  const KeepStreams keep;
  int64_t told = 0;
  for (const std::string& type : layer_registry().types().names()) {
    const std::vector<FieldInfo>& fields = layer_registry().types().get(type).fields();
    const ConfigNode example = example_config(fields);
    std::vector<ConfigNode> others = option_variants(fields);
    if (example.has("num_heads")) {
      others.push_back(example);
      others.back().set("num_heads", 1);
    }
    for (const ConfigNode& other : others) {
      CAPTURE(type);
      CAPTURE(to_yaml(other));
      try {
        told += differ_in_meaning(read_options("layer", type, example),
                                  read_options("layer", type, other))
                    ? 1
                    : 0;
      } catch (const Error&) {  // not together, or of other inputs
      }
    }
  }
  CHECK(told > 60);
}

TEST_CASE("weights: every field of rope_scaling is told") {
  const auto gpt = [](const std::string& scaling) {
    return read_options("layer", "gpt",
                        parse_config("{vocab_size: 5, context_length: 8, d_model: 12, num_heads: "
                                     "3, num_layers: 1, position: rope, attention: {rope_scaling: "
                                     "{" +
                                         scaling + "}}}",
                                     "g.yaml"));
  };
  const std::string all =
      "factor: 2, low_freq_factor: 1, high_freq_factor: 4, "
      "original_max_position_embeddings: 16";
  int64_t told = 0;
  for (const FieldInfo& field : list_fields<RopeScaling>()) {
    std::string other = all;
    const size_t at = other.find(field.name + ": ") + field.name.size() + 2;
    other.insert(at, field.name == "low_freq_factor" ? "0." : "1");
    const std::vector<Difference> found = differences(gpt(other), gpt(all));
    REQUIRE(found.size() == 1);
    CHECK(found[0].field == "attention.rope_scaling." + field.name);
    ++told;
  }
  CHECK(told == 4);
  CHECK(differences(gpt(all), gpt("factor: 1")).at(0).field == "attention.rope_scaling.factor");
}
