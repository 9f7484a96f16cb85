#include "tools/extras/bench/profile.h"

#include <algorithm>

namespace heed {

std::pair<double, int64_t> Profile::lap() {
  const double seconds = std::chrono::duration<double>(Clock::now() - since_).count();
  const int64_t flops = flop_count() - flops_before_;
  since_ = Clock::now();
  flops_before_ += flops;
  return {seconds, flops};
}

std::vector<ProfileRow> Profile::rows() const {
  std::vector<ProfileRow> rows;
  for (const auto& [op, row] : rows_) {
    rows.push_back(row);
    rows.back().op = op;
  }
  std::sort(rows.begin(), rows.end(), [](const ProfileRow& a, const ProfileRow& b) {
    return a.forward_seconds + a.backward_seconds > b.forward_seconds + b.backward_seconds;
  });
  return rows;
}

void Profile::made(const char* op, const Array& /*value*/, int64_t numbers) {
  if (dry_run()) {
    return;
  }
  const auto [seconds, flops] = lap();
  ProfileRow& row = rows_[op];
  ++row.calls;
  row.forward_seconds += seconds;
  row.forward_flops += flops;
  row.forward_numbers += numbers;
}

void Profile::pass_begins(std::span<const NodeRef> /*nodes*/) { lap(); }

void Profile::has_run(std::span<const NodeRef> nodes, size_t k, bool reached) {
  if (!reached || dry_run()) {
    return;
  }
  Node& node = *nodes[k].get();
  const auto [seconds, flops] = lap();
  ProfileRow& row = rows_[node.op()];
  row.backward_seconds += seconds;
  row.backward_flops += flops;
  row.backward_numbers += node.shape().size();
  for (const NodeRef& input : node.inputs()) {
    row.backward_numbers += input ? 2 * input->shape().size() : 0;
  }
}

}  // namespace heed
