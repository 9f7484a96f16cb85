// Time and memory traffic by operation, for `heed bench --profile`. The time of an operation starts
// when the previous one ends, so the times add up to the whole. `numbers` counts the elements that
// an operation has to read or write. Forward: its inputs and its value. Backward: the gradient of
// the value, and, for each input that requires a gradient, the input and its gradient.
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

// The engine calls these while `profiling` is true; profile_restart may be called at any time.
void profile_restart();  // the time since the last operation is not counted
void profile_forward(const char* op, int64_t numbers);  // `op` has just computed its value
void profile_backward(Node& node);

}  // namespace heed
