// Time and memory traffic by operation, for `heed bench --profile`. The time of an operation starts
// when the previous one ends, so the times add up to the whole. `numbers` counts the elements that
// an operation has to read or write. Forward: its inputs and its value. Backward: the gradient of
// the value, and, for each input that requires a gradient, the input and its gradient.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "autograd/graph/graph_observer.h"
#include "autograd/kernels/gemm.h"

namespace heed {

struct ProfileRow {
  std::string op;
  int64_t calls = 0;
  double forward_seconds = 0;
  double backward_seconds = 0;
  int64_t forward_flops = 0;  // of matrix products and attention
  int64_t backward_flops = 0;
  int64_t forward_numbers = 0;
  int64_t backward_numbers = 0;
};

// Takes the times while it exists; not those of dry runs.
class Profile final : public GraphObserver {
 public:
  std::vector<ProfileRow> rows() const;  // slowest first

  void made(const char* op, const Array& value, int64_t numbers) override;
  void pass_begins(std::span<const NodeRef> nodes) override;
  void has_run(std::span<const NodeRef> nodes, size_t k, bool reached) override;
  void forward_begins() override { lap(); }

 private:
  using Clock = std::chrono::steady_clock;

  // Seconds and floating-point operations since the last call.
  std::pair<double, int64_t> lap();

  std::map<std::string, ProfileRow> rows_;
  Clock::time_point since_ = Clock::now();
  int64_t flops_before_ = flop_count();
};

}  // namespace heed
