// Time by operation, for `heed bench --profile`. An operation's forward time runs from the end of
// the one before it, so nothing between two operations is lost. `numbers` are those that it cannot
// do without touching: forward its inputs and its value; backward the value's gradient, and each
// input that wants a gradient with that gradient.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "autograd/base/modes.h"

namespace heed {

class Node;

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

void start_profile();
std::vector<ProfileRow> stop_profile();  // slowest first

// Called by the engine while `profiling`; profile_restart may be called at any time.
void profile_restart();                                 // what came before belongs to no operation
void profile_forward(const char* op, int64_t numbers);  // `op` has just computed its value
void profile_backward(Node& node);

}  // namespace heed
