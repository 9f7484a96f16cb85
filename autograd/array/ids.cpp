#include "autograd/array/ids.h"

#include <limits>

namespace heed {

namespace {

// The index of element `flat`, as a Shape because that prints as "(1, 3)".
Shape position(const Shape& shape, int64_t flat) {
  Shape index = shape;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    index = index.with(axis, flat % shape[axis]);
    flat /= shape[axis];
  }
  return index;
}

// The first element that is outside [0, count) and not `ignored`, or -1.
int64_t first_outside(const Ids& ids, int64_t count, int64_t ignored) {
  const int32_t* id = ids.data();
  for (int64_t i = 0; i < ids.size() && !dry_run(); ++i) {
    if ((id[i] < 0 || id[i] >= count) && id[i] != ignored) {
      return i;
    }
  }
  return -1;
}

}  // namespace

void check_ids(const char* op, const Ids& ids, int64_t count, const char* hint) {
  constexpr int64_t nothing = std::numeric_limits<int64_t>::min();
  const int64_t bad = first_outside(ids, count, nothing);
  if (bad >= 0) {
    fail(op, ": expected ids from 0 to ", count - 1, ", got ", ids.data()[bad], " at ",
         position(ids.shape(), bad), hint);
  }
}

void check_ids_but(const char* op, const Ids& ids, int64_t count, int32_t ignored) {
  const int64_t bad = first_outside(ids, count, ignored);
  if (bad >= 0) {
    fail(op, ": expected targets from 0 to ", count - 1, " or ", ignored, " (ignored), got ",
         ids.data()[bad], " at ", position(ids.shape(), bad));
  }
}

}  // namespace heed
