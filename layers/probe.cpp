#include "layers/probe.h"

#include <algorithm>
#include <charconv>

#include "layers/evaluation_mode.h"
#include "layers/registry.h"

namespace heed {

namespace {

bool accepts(Module& layer, const Input& in) {
  std::optional<DryRun> dry;
  if (!dry_run()) {
    dry.emplace();
  }
  const EvaluationMode evaluating(layer);
  try {
    layer(in);
    return true;
  } catch (const ShapeError&) {
    return false;
  }
}

struct WholeNumber {
  std::string key;
  int64_t value = 0;
};

// All whole numbers of a config, in the order in which they stand there.
void collect_numbers(const ConfigNode& node, std::vector<WholeNumber>& found) {
  const std::string& digits = node.text();
  int64_t value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (node.is_scalar() && !digits.empty() && read.ptr == digits.data() + digits.size()) {
    found.push_back({node.key(), value});
  }
  for (const ConfigNode& child : node.children()) {
    collect_numbers(child, found);
  }
}

Tensor blank(const Shape& shape) { return Array::zeros(shape); }

int64_t find_width(Module& layer, std::vector<WholeNumber> numbers) {
  const auto named = [](const WholeNumber& n) { return n.key == "d_in" || n.key == "d_model"; };
  std::stable_partition(numbers.begin(), numbers.end(), named);
  numbers.push_back({"any", 4});
  for (const WholeNumber& number : numbers) {
    if (number.value > 0 && accepts(layer, blank({1, 1, number.value}))) {
      return number.value;
    }
  }
  fail("layer ", layer_registry().name_of(layer),
       ": cannot tell how wide its x is; name that field d_in or d_model");
}

}  // namespace

bool takes_mask(Module& layer, const Input& in) {
  Input with_mask = in;
  with_mask.mask = Mask::zeros({1, 1, 1});
  return !accepts(layer, with_mask);
}

InputSizes input_sizes(Module& layer, const ConfigNode& options) {
  std::vector<WholeNumber> numbers;
  collect_numbers(options, numbers);
  InputSizes sizes{layer.takes()};
  for (const WholeNumber& number : numbers) {
    if (number.key == "context_length") {
      sizes.context_length = std::min(number.value, sizes.context_length.value_or(number.value));
    }
    if (number.key == "vocab_size" && sizes.vocab_size == 0) {
      sizes.vocab_size = number.value;
    }
  }
  if (sizes.takes == Module::Takes::ids) {
    sizes.vocab_size = std::max<int64_t>(1, sizes.vocab_size);
  } else {
    sizes.vocab_size = 0;
    sizes.width = find_width(layer, std::move(numbers));
  }
  return sizes;
}

ConfigNode complete_options(const LayerSpec& spec) {
  const ConfigType* type = layer_registry().types().find(spec.type);
  require<ConfigError>(type != nullptr, "unknown layer \"", spec.type, "\"");
  ConfigErrors errors;
  ConfigNode complete = type->complete(spec.options, errors);
  errors.throw_if_any();
  return complete;
}

}  // namespace heed
