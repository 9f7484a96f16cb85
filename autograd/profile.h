// Time by operation, for `heed bench --profile`. An operation's forward time runs from the end of
// the one before it, so nothing between two operations is lost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed {

class Node;

struct ProfileRow {
  std::string op;
  int64_t calls = 0;
  double forward_seconds = 0;
  double backward_seconds = 0;
  int64_t forward_flops = 0;  // of matrix products and attention
  int64_t backward_flops = 0;
};

void start_profile();
std::vector<ProfileRow> stop_profile();  // slowest first

// Called by the engine; nothing happens unless a profile is running.
void profile_restart();                // what came before belongs to no operation
void profile_forward(const char* op);  // `op` has just computed its value
void profile_backward(const Node& node);

}  // namespace heed
