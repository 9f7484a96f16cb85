#include "tools/extras/gradients/measure/attribute.h"

#include <algorithm>

#include "tools/extras/gradients/backward/loss.h"

namespace heed::gradients {

namespace {

using probe::Block;
using Stacks = std::vector<std::vector<Block>>;

// A parameter of a layer, or of one inside, times its gradient; none if there is no such parameter.
std::optional<double> product_of(const Module& layer, const std::string& name) {
  std::optional<double> found;
  layer.for_each_parameter([&](const std::string& path, const Parameter& parameter) {
    const Tensor& tensor = parameter;
    if (path == name && tensor.grad()) found = Recorded{tensor.value(), tensor.grad()}.product();
  });
  return found;
}

class Parts {
 public:
  explicit Parts(const Recording& recording) : recording_(recording) {}

  void add_embedding(const Embedded& of) {
    add(*of.layer, {.part = "embedding", .value = of.vectors.product()});
  }

  // What the first block is given more than the embedding.
  void add_position(const Embedded& of, const Module& first) {
    const Recorded& stream = recording_.inputs.at(&first);
    if (stream.value.shape() != of.vectors.value.shape()) return;
    Recorded added{stream.value.clone(), stream.gradient};
    real* const to = added.value.mutable_data();
    std::transform(to, to + stream.value.size(), of.vectors.value.data(), to, std::minus<>());
    if (std::any_of(to, to + stream.value.size(), [](real each) { return each != 0; })) {
      add(*of.layer, {.part = "position", .value = added.product()});
    }
  }

  void add_block(const Block& block) {
    for (const Module* attention : block.attention) {
      add_attention(*attention, block.number, attention == block.attention.front() ? "" : "cross_");
    }
    if (block.feed_forward != nullptr) {
      add(*block.feed_forward, {.part = "feed_forward",
                                .block = block.number,
                                .value = recording_.output_of(block.feed_forward).product()});
    }
  }

  void add_shift(const Module* norm) {
    const auto shift = norm != nullptr ? product_of(*norm, "shift") : std::nullopt;
    if (shift) add(*norm, {.part = "final_shift", .value = *shift});
  }

  std::vector<Part> all;

 private:
  void add(const Module& layer, probe::Contribution part) {
    all.push_back({std::move(part), layer.path()});
  }

  void add_attention(const Module& attention, int64_t block, const std::string& cross) {
    const std::vector<double> heads = recording_.products_of_heads(&attention);
    for (int64_t h = 0; h < std::ssize(heads); ++h) {
      add(attention, {.part = cross + "head",
                      .block = block,
                      .head = h,
                      .value = heads[static_cast<size_t>(h)]});
    }
    if (heads.empty()) {
      add(attention, {.part = cross + "attention",
                      .block = block,
                      .value = recording_.output_of(&attention).product()});
    } else if (const auto bias = product_of(attention, "out_proj.bias")) {
      add(attention, {.part = cross + "out_bias", .block = block, .value = *bias});
    }
  }

  const Recording& recording_;
};

std::vector<Part> parts_in(const Recording& recording, const Stacks& stacks, const Module* norm) {
  Parts parts(recording);
  size_t stack = 0;
  for (const Embedded& embedded : recording.embeddings) {
    parts.add_embedding(embedded);
    if (stack < stacks.size()) {
      parts.add_position(embedded, *stacks[stack].front().layer);
      for (const Block& block : stacks[stack]) parts.add_block(block);
    }
    ++stack;
  }
  parts.add_shift(norm);
  return std::move(parts.all);
}

std::vector<TokenShare> shares_of_tokens(const Recording& recording) {
  std::vector<TokenShare> shares;
  for (const Embedded& of : recording.embeddings) {
    const bool source = &of != &recording.embeddings.back();
    for (int64_t t = 0; t < of.ids.size(); ++t) {
      shares.push_back({source, t, of.ids.data()[t], of.vectors.product_at(t)});
    }
  }
  return shares;
}

}  // namespace

Attributions attribute(Module& model, const Input& in, const probe::Measure& measure) {
  const Stacks stacks = probe::stacks_in(model);
  std::vector<probe::PartObserver::Watched> watched;
  std::vector<const Module*> first;
  const Module* norm = nullptr;
  for (const std::vector<Block>& stack : stacks) {
    const auto more = probe::watched_in(stack);
    watched.insert(watched.end(), more.begin(), more.end());
    first.push_back(stack.front().layer);
  }
  if (!stacks.empty()) {
    const NoGrad off;
    norm = probe::ends_of(model, in, stacks.back()).norm;
  }
  const Recording recording = record(
      model, in, watched, first,
      [&](const Array& logits) { return measure_cotangent(logits, measure); },
      "heed probe: attribute");
  Attributions found{measure.at_end(recording.output), parts_in(recording, stacks, norm),
                     shares_of_tokens(recording)};
  zero_gradients(model);
  return found;
}

}  // namespace heed::gradients
