#include "train/data/windows.h"

#include <algorithm>
#include <limits>

#include "autograd/base/modes.h"
#include "autograd/random/fills.h"
#include "train/data/data_file.h"

namespace heed {

namespace {

// The number of windows of T + 1 tokens, `stride` apart, in a part of `size` tokens.
int64_t windows_in(int64_t size, int64_t context_length, int64_t stride) {
  return size > context_length ? (size - context_length - 1) / stride + 1 : 0;
}

}  // namespace

void WindowConfig::fields(Fields& f) {
  f.required("context_length", context_length, at_least(1),
             "tokens of a window; the model's unless given")
      .example(8);
  f.optional("train_fraction", train_fraction, in_range(0, 1, Bound::open),
             "share of the tokens to train on, from the beginning; the rest is for validation");
  f.choice("sampling", sampling, {"random", "windows"},
           "random: windows anywhere; windows: epochs over windows that are stride apart");
  f.optional("stride", stride, at_least(1), "tokens between the starts of windows",
             "context_length");
  f.optional("shuffle", shuffle, "windows in a new order every epoch");
}

void WindowConfig::check(ConfigErrors& errors, const ConfigNode& at) const {
  if (sampling == "windows") {
    return;
  }
  const char* const only =
      " has no effect with sampling random; write sampling: windows, or leave ";
  if (stride) {
    errors.add_field(at, "stride", *stride, only, "stride out");
  }
  if (!shuffle) {
    errors.add_field(at, "shuffle", "false", only, "shuffle out");
  }
}

Windows::Windows(TokenRow tokens, const WindowConfig& config, int64_t batch_size,
                 const std::string& source, std::optional<int64_t> train_size)
    : tokens_(std::move(tokens)),
      config_(config),
      train_size_(train_size.value_or(
          static_cast<int64_t>(config.train_fraction * static_cast<double>(tokens_.size())))) {
  epochs_ = Epochs(window_count(), config.shuffle);  // unused with random sampling
  require_tokens(Split::train, source);
  if (config_.train_fraction < 1) {
    require_tokens(Split::validation, source);
  }
  if (tokens_.is_constant()) {
    throw TaskError(source, text("expected at least two different tokens, got the same one ",
                                 tokens_.size(), " times"));
  }
  require_enough_windows(batch_size);
}

void Windows::require_tokens(Split split, const std::string& source) const {
  constexpr int64_t largest = std::numeric_limits<int64_t>::max();
  const int64_t needed = std::min(config_.context_length, largest - 1) + 1;
  if (tokens_.size() == 0) {
    throw TaskError(source, text("empty: expected at least ", needed, " tokens"));
  }
  if (part_size(split) < needed) {
    const int64_t smaller = config_.train_fraction < 1
                                ? std::min(part_size(Split::train), part_size(Split::validation))
                                : train_size_;
    throw TaskError(
        source,
        text("too short for context_length ", config_.context_length, ": expected at least ",
             needed, " tokens in the ", split == Split::train ? "training" : "validation",
             " part, got ", part_size(split), " of ", tokens_.size(), " (train_fraction ",
             config_.train_fraction, ")",
             smaller > 1 ? text("; at most ", smaller - 1, " with this data") : ""));
  }
}

int64_t Windows::part_size(Split split) const {
  return split == Split::train ? train_size_ : tokens_.size() - train_size_;
}

int64_t Windows::window_count() const {
  return windows_in(train_size_, config_.context_length, stride());
}

void Windows::require_enough_windows(int64_t batch_size) const {
  if (config_.sampling == "windows" && window_count() < batch_size) {
    throw TaskError("sampling",
                    text("windows: expected at least one batch of ", batch_size, " windows, got ",
                         window_count(), " (", train_size_, " tokens, context_length ",
                         config_.context_length, ", stride ", stride(), ")"));
  }
}

Batch Windows::next(int64_t batch_size, Generator& data) {
  require_enough_windows(batch_size);
  if (dry_run()) {
    const Shape shape{batch_size, config_.context_length};
    return {Input(Ids::uninitialised(shape)), Ids::uninitialised(shape)};
  }
  offsets_.resize(static_cast<size_t>(batch_size));
  if (config_.sampling == "random") {
    fill_randint(data, offsets_, 0, train_size_ - config_.context_length);
  } else {
    epochs_.next(offsets_, data);
    for (int64_t& offset : offsets_) {
      offset *= stride();
    }
  }
  return batch_at(offsets_);
}

void Windows::set_position(const std::vector<int64_t>& position) {
  require<IoError>(position.empty() || config_.sampling == "windows",
                   "data: expected no position with sampling ", config_.sampling, ", got ",
                   position.size(), " numbers");
  epochs_.set_position(position);
}

int64_t Windows::example_count(Split split) const {
  return windows_in(part_size(split), config_.context_length, config_.context_length);
}

Batch Windows::examples(Split split, const std::vector<int64_t>& which) const {
  require_examples(which, example_count(split));
  const int64_t begin = split == Split::train ? 0 : train_size_;
  std::vector<int64_t> offsets(which);
  for (int64_t& offset : offsets) {
    offset = begin + offset * config_.context_length;
  }
  return batch_at(offsets);
}

Batch Windows::batch_at(std::span<const int64_t> offsets) const {
  const int64_t length = config_.context_length;
  const Shape shape{static_cast<int64_t>(offsets.size()), length};
  Ids x = Ids::uninitialised(shape), y = Ids::uninitialised(shape);
  int32_t *row_x = x.mutable_data(), *row_y = y.mutable_data();
  const auto width = static_cast<size_t>(length);
  for (const int64_t offset : offsets) {
    tokens_.copy(offset, {row_x, width});
    tokens_.copy(offset + 1, {row_y, width});
    row_x += length;
    row_y += length;
  }
  return {Input(std::move(x)), std::move(y)};
}

}  // namespace heed
