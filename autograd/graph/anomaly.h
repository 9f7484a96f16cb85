// Anomaly mode (set_anomaly_mode, autograd/base/modes.h) checks every value and gradient as soon as
// it is computed. The first NaN or infinity is an error that names the operation, the layer and the
// shape. Off by default: each check reads the whole array once more.
#pragma once

#include "autograd/array/array.h"
#include "autograd/base/modes.h"

namespace heed {

class Node;

// True if no element is NaN or infinite.
bool all_finite(const Array& values);

// In anomaly mode these throw DivergedError if a number is not finite; otherwise they do nothing.
void check_value(const char* op, const Array& value);  // a value that `op` has just computed
void check_gradients(Node& node);  // of the inputs of `node`, whose backward has just run

}  // namespace heed
