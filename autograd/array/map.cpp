#include "autograd/array/map.h"

namespace heed {

BroadcastReader::BroadcastReader(const Shape& of, const Shape& over)
    : outer_axes_(over.rank() - 1) {
  int64_t stride = 1;
  for (int back = 1; back <= of.rank(); ++back) {
    const bool stretched = of[-back] == 1;
    if (back == 1) {
      step_ = stretched ? 0 : 1;
    } else {
      stride_[static_cast<size_t>(over.rank() - back)] = stretched ? 0 : stride;
    }
    stride *= of[-back];
  }
  for (int axis = 0; axis < outer_axes_; ++axis) {
    extent_[static_cast<size_t>(axis)] = over[axis];
  }
}

}  // namespace heed
