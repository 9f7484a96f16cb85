// Every setting of every layer changes something, or is refused.

#include "autograd/base/rethrow.h"
#include "layers/module/added_losses.h"
#include "layers/module/evaluation_mode.h"
#include "layers/module/registry.h"
#include "tests/support/near.h"
#include "tools/extras/checks/layers/layer_inputs.h"
#include "tools/extras/checks/layers/variants.h"

using namespace heed;
using namespace heed::testing;

namespace {

// What a layer is, and what it makes of its inputs in training and in evaluation: as text, bit for
// bit.
std::string all_of(const std::string& type, const ConfigNode& options) {
  manual_seed(1);
  const std::unique_ptr<Module> layer = make_layer(read_options("layer", type, options));
  const Signature sizes = sized_signature(*layer);
  std::string all = text(sizes.longest.value_or(0), " ", sizes.source_longest.value_or(0), " ",
                         sizes.vocab_size, " ", sizes.causal, "\n");
  const auto add = [&all](const std::string& name, const Array& array) {
    all += text(name, " ", array.shape(), " ");
    all.append(reinterpret_cast<const char*>(array.data()),
               sizeof(real) * static_cast<size_t>(array.size()));
  };
  Generator numbers(3);
  for (const NamedParameter& each : layer->parameters()) add(each.name, each.tensor.value());
  perturb(*layer, numbers);
  for (const InputForm& form : input_forms(sizes, 6)) {
    const Input in = random_input(sizes, form, numbers);
    const AddedLosses added;
    for (const auto& [name, array] : run_layer(*layer, in)) add(name, array);
    for (const auto& [name, loss] : added.by_name) add(name, loss.value());
    const EvaluationMode evaluating(*layer);
    add("evaluated", layer->operator()(in).value());
  }
  return all;
}

// Another number in the place of one: a quarter more, or one more.
std::vector<ConfigNode> other_numbers(const FieldInfo& info, const ConfigNode& usual) {
  const bool whole = info.type == FieldType::integer;
  if ((!whole && info.type != FieldType::number) || !usual.is_scalar()) return {};
  char* end = nullptr;
  const double value = std::strtod(usual.text().c_str(), &end);
  if (*end != 0 || usual.text().empty()) return {};
  const double other = whole ? value + 1 : value == 0 ? 0.25 : value * 1.25;
  return {whole ? ConfigNode(static_cast<int64_t>(other)) : ConfigNode(other)};
}

// What changes nothing in layers as small as these examples: 1 / sqrt(4), the scale that there is,
// and the base of a single pair of numbers that turn, which turn by the position.
bool is_usual(const ConfigNode& options) {
  return (options.has("scale") && options.get("scale").text() == "0.5") || options.has("rope_base");
}

}  // namespace

TEST_CASE("settings: each one of each layer changes something, or is refused") {
  const KeepStreams keep;
  int64_t compared = 0, refused = 0;
  std::string without_effect;
  for (const std::string& type : layer_registry().types().names()) {
    // Types without a layer, registered by config_test.cpp.
    if (type == "attention" || type == "everything" || type == "plain") continue;
    const std::vector<FieldInfo> fields = layer_registry().types().get(type).fields();
    std::vector<ConfigNode> variants = option_variants(fields);
    const ConfigNode base = variants.front();
    for (const FieldInfo& info : fields) {
      const ConfigNode& usual = base.has(info.name) ? base.get(info.name) : info.value;
      for (ConfigNode& value : other_numbers(info, usual)) {
        variants.push_back(base);
        variants.back().set(info.name, std::move(value));
      }
    }
    const std::string before = all_of(type, base);
    for (size_t i = 1; i < variants.size(); ++i) {
      if (error_of<ConfigError>([&] { read_options("layer", type, variants[i]); })) {
        ++refused;
      } else if (all_of(type, variants[i]) == before && !is_usual(variants[i])) {
        without_effect += text(type, " ", to_yaml(variants[i]), "\n");
      }
      ++compared;
    }
  }
  CHECK_MESSAGE(without_effect.empty(), without_effect);
  MESSAGE(compared, " settings, ", refused, " refused");
  CHECK(compared > 100);
  CHECK(refused > 10);
}
