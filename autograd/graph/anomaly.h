// Anomaly mode: every value and every gradient is looked at as it is made, and the first NaN or
// infinity is reported with its op, layer path and shape. Off by default: it costs a pass a value.
#pragma once

#include "autograd/array/array.h"
#include "autograd/base/modes.h"

namespace heed {

class Node;

// Whether every number is finite.
bool all_finite(const Array& values);

// Each throws DivergedError in anomaly mode and does nothing otherwise.
void check_value(const char* op, const Array& value);  // made in the current LayerScope
void check_gradients(Node& node);                      // what node's backward just wrote

}  // namespace heed
