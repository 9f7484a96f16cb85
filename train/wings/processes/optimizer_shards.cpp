#include "train/wings/processes/optimizer_shards.h"

#include <algorithm>
#include <numeric>

namespace heed {

namespace {

constexpr int tag_of_arrays = 1;
constexpr size_t most_sent = size_t{1} << 26;  // elements in a message: MPI counts bytes in an int

// Arrays on their way. Those between two processes arrive in the order in which they were sent.
class Transfer {
 public:
  explicit Transfer(Communicator& ranks) : ranks_(ranks) {}

  void send(int to, std::span<const real> values) {
    in_parts(values, [&](std::span<const real> part) {
      ranks_.send(to, tag_of_arrays, std::as_bytes(part), [this] { --under_way_; });
    });
  }

  void receive(int from, std::span<real> values) {
    in_parts(values, [&](std::span<real> part) {
      ranks_.receive(from, tag_of_arrays, std::as_writable_bytes(part), [this] { --under_way_; });
    });
  }

  void finish() {
    ranks_.wait_until([this] { return under_way_ == 0; });
  }

 private:
  // Calls start(part) for each part, in order. A part is short enough for a message.
  template <class T, class Start>
  void in_parts(std::span<T> values, const Start& start) {
    while (!values.empty()) {
      const size_t count = std::min(most_sent, values.size());
      ++under_way_;
      start(values.first(count));
      values = values.subspan(count);
    }
  }

  Communicator& ranks_;
  int64_t under_way_ = 0;
};

}  // namespace

std::vector<int> owners(const std::vector<NamedParameter>& parameters, int ranks) {
  std::vector<size_t> by_size(parameters.size());
  std::iota(by_size.begin(), by_size.end(), size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(), [&](size_t a, size_t b) {
    return parameters[a].tensor.size() > parameters[b].tensor.size();
  });
  std::vector<int64_t> load(static_cast<size_t>(ranks));
  std::vector<int> owner(parameters.size());
  for (const size_t k : by_size) {
    const auto least = std::min_element(load.begin(), load.end());
    *least += parameters[k].tensor.size();
    owner[k] = static_cast<int>(least - load.begin());
  }
  return owner;
}

std::vector<NamedParameter> with_owners(std::vector<NamedParameter> parameters,
                                        const Communicator& ranks) {
  const std::vector<int> owner = owners(parameters, ranks.size());
  for (size_t k = 0; k < parameters.size(); ++k) {
    parameters[k].updated_here = owner[k] == ranks.rank();
  }
  return parameters;
}

void share_weights(const std::vector<NamedParameter>& parameters, Communicator& ranks) {
  const std::vector<int> owner = owners(parameters, ranks.size());
  Transfer transfer(ranks);
  for (size_t k = 0; k < parameters.size(); ++k) {
    const NoGrad off;
    Tensor parameter = parameters[k].tensor;
    if (owner[k] != ranks.rank()) {
      transfer.receive(owner[k],
                       std::span(parameter.mutable_value(), static_cast<size_t>(parameter.size())));
      continue;
    }
    for (int to = 0; to < ranks.size(); ++to) {
      if (to != ranks.rank()) transfer.send(to, parameter.value().span());
    }
  }
  transfer.finish();
}

WholeState::WholeState(Optimizer& optimizer, Communicator& ranks) {
  const std::vector<NamedParameter>& parameters = optimizer.parameters();
  const std::vector<int> owner = owners(parameters, ranks.size());
  Transfer transfer(ranks);
  for (const auto& [kind, arrays] : optimizer.state()) {
    for (size_t k = 0; k < arrays->size(); ++k) {
      Array& array = (*arrays)[k];
      if (owner[k] == ranks.rank() && owner[k] != 0) {
        transfer.send(0, array.span());
      } else if (owner[k] != ranks.rank() && ranks.rank() == 0) {
        if (!array) {
          array = Array::uninitialised(parameters[k].tensor.shape());
          lent_.push_back(&array);
        }
        transfer.receive(owner[k], {array.mutable_data(), static_cast<size_t>(array.size())});
      }
    }
  }
  transfer.finish();
}

WholeState::~WholeState() {
  for (Array* const array : lent_) *array = {};
}

}  // namespace heed
