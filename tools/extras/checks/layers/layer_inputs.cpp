#include "tools/extras/checks/layers/layer_inputs.h"

#include <algorithm>

#include "autograd/random/fills.h"
#include "layers/module/added_losses.h"

namespace heed {

namespace {

Ids random_ids(const Shape& shape, int64_t vocab_size, Generator& generator) {
  Ids ids = Ids::uninitialised(shape);
  for (int64_t i = 0; i < ids.size(); ++i) {
    const auto word = static_cast<int64_t>(generator.random32());
    ids.mutable_data()[i] = static_cast<int32_t>(word % std::max<int64_t>(1, vocab_size));
  }
  return ids;
}

// A mask that hides every third key s, with an offset for each sequence b and query t:
//   (B, S)         hidden if (s + b) % 3 == 0
//   (B, 1, T, S)   hidden if (s + b + 2 t) % 3 == 0; the last query of sequence 0 sees nothing
// Key 0 of sequence 0 is hidden from query 0, so with a causal mask that query sees nothing either.
Mask padding(int64_t batch, int64_t queries, int64_t keys, bool with_queries) {
  Mask mask =
      Mask::uninitialised(with_queries ? Shape{batch, 1, queries, keys} : Shape{batch, keys});
  const int64_t rows = with_queries ? queries : 1;
  for (int64_t i = 0; i < mask.size(); ++i) {
    const int64_t s = i % keys, t = i / keys % rows, b = i / keys / rows;
    const bool blind = with_queries && b == 0 && t == queries - 1;
    mask.mutable_data()[i] = !blind && (s + b + 2 * t) % 3 != 0;
  }
  return mask;
}

}  // namespace

Mask Input::*mask_member(const Signature& signature) {
  return signature.ids && signature.context ? &Input::source_mask : &Input::mask;
}

Signature sized_signature(const Module& layer, int64_t width) {
  Signature sizes = layer.signature();
  if (sizes.ids) {
    return sizes;
  }
  if (sizes.width == 0) {
    sizes.width = width > 0 ? width : 4;
  }
  if (sizes.context_width == 0) {
    sizes.context_width = sizes.width;
  }
  return sizes;
}

Input blank_input(const Signature& sizes, int64_t batch, int64_t tokens, int64_t source_tokens) {
  const auto lead = [&](int64_t length) {
    return batch > 0 ? Shape{batch, length} : Shape{length};
  };
  const auto wide = [&](int64_t length, int64_t width) {
    const Shape shape = lead(length);
    return Tensor(Array::uninitialised(shape.inserted(shape.rank(), width)));
  };
  Input in;
  if (sizes.ids) {
    in.ids = Ids::uninitialised(lead(tokens));
    in.source_ids = sizes.context ? Ids::uninitialised(lead(source_tokens)) : Ids();
  } else {
    in.x = wide(tokens, sizes.width);
    if (sizes.channels > 0) {
      const Shape shape = in.x.shape().inserted(batch > 0 ? 1 : 0, sizes.channels);
      in.x = Tensor(Array::uninitialised(shape));
    }
    in.context = sizes.context ? wide(source_tokens, sizes.context_width) : Tensor();
  }
  return in;
}

std::vector<InputForm> input_forms(const Signature& sizes, int64_t most) {
  const int64_t batch = 2;
  const int64_t tokens = sizes.tokens_near(most), fewest = sizes.unit;
  // A different length from x, so that confusing the two sequences gives an error.
  const int64_t source = std::min(most + 1, sizes.source_longest.value_or(most + 1));
  const int64_t keys = sizes.context ? source : tokens;
  std::vector<InputForm> forms{{batch, tokens, source}, {0, tokens, source}};
  if (tokens > fewest) {
    forms.push_back({batch, fewest, source});
  }
  if (sizes.mask) {
    forms.push_back({batch, tokens, source, padding(batch, tokens, keys, false)});
  }
  if (sizes.mask && mask_member(sizes) == &Input::mask) {
    forms.push_back({batch, tokens, source, padding(batch, tokens, keys, true)});
  }
  return forms;
}

std::string describe(const Signature& sizes, const InputForm& form) {
  const Input in = blank_input(sizes, form.batch, form.tokens, form.source_tokens);
  std::string out = in.ids ? text("ids ", in.ids.shape()) : text("x ", in.x.shape());
  out += in.source_ids ? text(", source_ids ", in.source_ids.shape()) : "";
  out += in.context ? text(", context ", in.context.shape()) : "";
  return out + (form.mask ? text(", mask ", form.mask.shape()) : "");
}

Array uniform_array(const Shape& shape, double low, double high, Generator& generator) {
  Array values = Array::uninitialised(shape);
  fill_uniform(generator, {values.mutable_data(), static_cast<size_t>(values.size())}, low, high);
  return values;
}

Input random_input(const Signature& sizes, const InputForm& form, Generator& generator) {
  Input in = blank_input(sizes, form.batch, form.tokens, form.source_tokens);
  in.*mask_member(sizes) = form.mask;
  if (in.ids) {
    in.ids = random_ids(in.ids.shape(), sizes.vocab_size, generator);
  }
  if (in.source_ids) {
    in.source_ids = random_ids(in.source_ids.shape(), sizes.source_vocab_size, generator);
  }
  for (const auto member : {&Input::x, &Input::context}) {
    if (in.*member) {
      in.*member = Tensor(uniform_array((in.*member).shape(), -1.5, 1.5, generator));
    }
  }
  return in;
}

void perturb(Module& layer, Generator& generator) {
  const NoGrad off;
  for (NamedParameter& parameter : layer.parameters()) {
    const Array shift = uniform_array(parameter.tensor.shape(), -0.3, 0.3, generator);
    real* const values = parameter.tensor.mutable_value();
    std::transform(values, values + shift.size(), shift.data(), values, std::plus<real>());
  }
}

RunResults run_leaves(std::vector<NamedParameter> leaves, const std::function<Tensor()>& forward) {
  for (NamedParameter& leaf : leaves) leaf.tensor.zero_grad();
  const AddedLosses added;
  const Tensor y = forward();
  RunResults results{{"y", y.value().clone()}};
  for (const auto& [name, loss] : added.by_name) results["the loss " + name] = loss.value();
  if (y.requires_grad()) {
    Generator numbers(7);
    y.backward(uniform_array(y.shape(), 0.5, 1.5, numbers));
  }
  for (NamedParameter& leaf : leaves) {
    if (const Array gradient = leaf.tensor.grad()) results[leaf.name] = gradient.clone();
    leaf.tensor.zero_grad();
  }
  return results;
}

RunResults run_layer(Module& layer, const Input& in) {
  streams().dropout().manual_seed(5);
  std::vector<NamedParameter> leaves = layer.parameters();
  Input traced = in;
  for (const auto& [name, member] : {std::pair{"x", &Input::x}, {"context", &Input::context}}) {
    if (in.*member) {
      traced.*member = Tensor::parameter((in.*member).value().clone());
      leaves.push_back({name, traced.*member});
    }
  }
  RunResults results = run_leaves(leaves, [&] { return layer(traced); });
  for (const NamedParameter& leaf : leaves) {
    results.try_emplace(leaf.name, Array::zeros(leaf.tensor.shape()));
  }
  return results;
}

}  // namespace heed
