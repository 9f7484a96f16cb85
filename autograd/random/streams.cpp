#include "autograd/random/streams.h"

#include <memory>

#include "autograd/base/error.h"

namespace heed {
namespace {

// Returns the value, first or second, whose name is `name`; otherwise throws ConfigError.
template <class T>
T named(const char* what, const std::string& name, T first, T second) {
  if (name == name_of(first)) return first;
  if (name == name_of(second)) return second;
  fail<ConfigError>(what, ": expected ", name_of(first), " or ", name_of(second), ", got ", name,
                    did_you_mean(name, {name_of(first), name_of(second)}));
}

}  // namespace

std::string name_of(DropoutStream stream) {
  return stream == DropoutStream::mcg31 ? "mcg31" : "mt19937";
}

std::string name_of(Generators mode) {
  return mode == Generators::separate ? "separate" : "single";
}

DropoutStream dropout_stream_from(const std::string& name) {
  return named("dropout stream", name, DropoutStream::mcg31, DropoutStream::mt19937);
}

Generators generators_from(const std::string& name) {
  return named("generators", name, Generators::separate, Generators::single);
}

Streams::Streams(uint64_t seed, Generators mode, DropoutStream dropout_stream)
    : mode_(mode),
      dropout_stream_(dropout_stream),
      shared_(seed),
      data_(shared_),
      dropout_(shared_),
      sampling_(shared_) {}

StreamsState Streams::state() const {
  const bool single = mode_ == Generators::single;
  return {.mode = mode_,
          .dropout_stream = dropout_stream_,
          .init = shared_.state(),
          .data = single ? shared_.state() : data_.state(),
          .dropout = single ? shared_.state() : dropout_.state(),
          .sampling = sampling_.state()};
}

void Streams::set_state(const StreamsState& state) {
  require<ConfigError>(state.mode == Generators::separate ||
                           (state.init == state.data && state.init == state.dropout),
                       "generators: single means one state for initialisation, data and dropout, "
                       "but these three differ");
  Streams next(*this);
  next.mode_ = state.mode;
  next.dropout_stream_ = state.dropout_stream;
  next.shared_.set_state(state.init);
  next.data_.set_state(state.data);
  next.dropout_.set_state(state.dropout);
  next.sampling_.set_state(state.sampling);
  *this = next;
}

Streams& streams() {
  thread_local const auto current = std::make_unique<Streams>();
  return *current;
}

void manual_seed(uint64_t seed, Generators mode, DropoutStream dropout_stream) {
  streams() = Streams(seed, mode, dropout_stream);
}

}  // namespace heed
