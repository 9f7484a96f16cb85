#include "autograd/graph/profile.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>

#include "autograd/graph/graph.h"
#include "autograd/kernels/gemm.h"
#include "autograd/threads/loop_runner.h"

namespace heed {

namespace {

using Clock = std::chrono::steady_clock;

struct Profile {
  std::map<std::string, ProfileRow> rows;
  Clock::time_point since = Clock::now();
  int64_t flops_before = flop_count();

  // Seconds and floating-point operations since the last call.
  std::pair<double, int64_t> lap(const char* op) {
    if (LoopRunner* loops = LoopRunner::current()) {
      loops->label(op);
    }
    const Clock::time_point now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - since).count();
    const int64_t flops = flop_count() - flops_before;
    since = Clock::now();
    flops_before += flops;
    return {seconds, flops};
  }
};

thread_local std::unique_ptr<Profile> profile;

}  // namespace

void start_profile() {
  profile = std::make_unique<Profile>();
  profiling = true;
}

std::vector<ProfileRow> stop_profile() {
  std::vector<ProfileRow> rows;
  for (auto& [op, row] : profile->rows) {
    rows.push_back(row);
    rows.back().op = op;
  }
  profile.reset();
  profiling = false;
  std::sort(rows.begin(), rows.end(), [](const ProfileRow& a, const ProfileRow& b) {
    return a.forward_seconds + a.backward_seconds > b.forward_seconds + b.backward_seconds;
  });
  return rows;
}

void profile_restart() {
  if (profile) {
    profile->lap("");
  }
}

void profile_forward(const char* op, int64_t numbers) {
  const auto [seconds, flops] = profile->lap(op);
  ProfileRow& row = profile->rows[op];
  ++row.calls;
  row.forward_seconds += seconds;
  row.forward_flops += flops;
  row.forward_numbers += numbers;
}

void profile_backward(Node& node) {
  const auto [seconds, flops] = profile->lap(node.op());
  ProfileRow& row = profile->rows[node.op()];
  row.backward_seconds += seconds;
  row.backward_flops += flops;
  row.backward_numbers += node.shape().size();
  for (const NodeRef& input : node.inputs()) {
    row.backward_numbers += input ? 2 * input->shape().size() : 0;
  }
}

}  // namespace heed
