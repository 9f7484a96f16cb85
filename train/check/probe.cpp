#include "train/check/probe.h"

#include <algorithm>
#include <charconv>

#include "layers/module/evaluation_mode.h"
#include "layers/module/registry.h"

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

// Collects all whole numbers of a config, in order of appearance.
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

Input blank_of_width(const InputSizes& sizes, int64_t width) {
  InputSizes tried = sizes;
  tried.width = width;
  tried.context_width = sizes.context_width > 0 ? sizes.context_width : width;
  return blank_input(tried, 1, 1, 1);
}

int64_t find_width(Module& layer, const InputSizes& sizes, std::vector<WholeNumber> numbers) {
  const auto named = [](const WholeNumber& n) { return n.key == "d_in" || n.key == "d_model"; };
  std::stable_partition(numbers.begin(), numbers.end(), named);
  numbers.push_back({"any", 4});
  for (const WholeNumber& number : numbers) {
    if (number.value > 0 && accepts(layer, blank_of_width(sizes, number.value))) {
      return number.value;
    }
  }
  fail("layer ", layer_registry().name_of(layer),
       ": cannot tell how wide its x is; name that field d_in or d_model");
}

}  // namespace

Mask Input::*mask_member(const Module& layer) {
  const bool source = layer.takes() == Module::Takes::ids && layer.takes_context();
  return source ? &Input::source_mask : &Input::mask;
}

bool takes_mask(Module& layer, const Input& in) {
  Input with_mask = in;
  with_mask.*mask_member(layer) = Mask::zeros({1, 1, 1});
  return !accepts(layer, with_mask);
}

Input blank_input(const InputSizes& sizes, int64_t batch, int64_t tokens, int64_t source_tokens) {
  const auto lead = [&](int64_t length) {
    return batch > 0 ? Shape{batch, length} : Shape{length};
  };
  const auto wide = [&](int64_t length, int64_t width) {
    const Shape shape = lead(length);
    return Tensor(Array::uninitialised(shape.inserted(shape.rank(), width)));
  };
  Input in;
  if (sizes.takes == Module::Takes::ids) {
    in.ids = Ids::uninitialised(lead(tokens));
    in.source_ids = sizes.takes_context ? Ids::uninitialised(lead(source_tokens)) : Ids();
  } else {
    in.x = wide(tokens, sizes.width);
    in.context = sizes.takes_context ? wide(source_tokens, sizes.context_width) : Tensor();
  }
  return in;
}

namespace {

// The smallest number under this key, if there is one.
std::optional<int64_t> limit(const std::vector<WholeNumber>& numbers, const std::string& key) {
  std::optional<int64_t> smallest;
  for (const WholeNumber& number : numbers) {
    if (number.key == key) {
      smallest = std::min(number.value, smallest.value_or(number.value));
    }
  }
  return smallest;
}

int64_t first(const std::vector<WholeNumber>& numbers, const std::string& key) {
  const auto found = std::find_if(numbers.begin(), numbers.end(),
                                  [&](const WholeNumber& number) { return number.key == key; });
  return found == numbers.end() ? 0 : found->value;
}

}  // namespace

InputSizes input_sizes(Module& layer, const ConfigNode& options, int64_t width) {
  std::vector<WholeNumber> numbers;
  collect_numbers(options, numbers);
  InputSizes sizes{layer.takes()};
  sizes.takes_context = layer.takes_context();
  sizes.context_length = limit(numbers, "context_length");
  sizes.source_length = limit(numbers, "source_length");
  if (sizes.takes == Module::Takes::ids) {
    sizes.vocab_size = std::max<int64_t>(1, first(numbers, "vocab_size"));
    sizes.source_vocab_size = std::max<int64_t>(1, first(numbers, "source_vocab_size"));
    return sizes;
  }
  sizes.context_width = first(numbers, "d_context");
  sizes.width = width > 0 ? width : find_width(layer, sizes, std::move(numbers));
  sizes.context_width = sizes.context_width > 0 ? sizes.context_width : sizes.width;
  return sizes;
}

LayerChoice completed(const LayerChoice& choice) {
  return choice.has_config() ? choice : read_options("layer", choice.type(), ConfigNode::map());
}

ConfigNode write_options(const LayerChoice& choice) {
  return write_struct(completed(choice).config());
}

}  // namespace heed
