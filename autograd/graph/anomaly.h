// Anomaly mode: every value and every gradient is looked at as it is made, and the first NaN or
// infinity is reported with its op, layer path and shape. Off by default: it costs a pass a value.
#pragma once

#include "autograd/array/array.h"

namespace heed {

class Node;

namespace detail {
inline bool anomaly_mode_on = false;
}

inline bool anomaly_mode() { return detail::anomaly_mode_on; }
inline void set_anomaly_mode(bool on) { detail::anomaly_mode_on = on; }

// Whether every number is finite.
bool all_finite(const Array& values);

// Each throws DivergedError in anomaly mode and does nothing otherwise.
void check_value(const char* op, const Array& value);  // made in the current LayerScope
void check_gradients(Node& node);                      // what node's backward just wrote

}  // namespace heed
