#include "layers/module/cache.h"

#include <algorithm>

#include "layers/module/module.h"

namespace heed {

std::any& Cache::enter(const Module& layer) {
  require<GraphError>(!NoGrad::recording(), "cache: expected NoGrad, got a graph");
  Entry& entry = layers_[&layer];
  require<Error>(entry.pass != pass_, "cache: ", layer.path(),
                 " updates its state twice in one forward pass; call advance() after each pass, ",
                 "and say Signature::cache only if every layer runs once");
  entry.pass = pass_;
  return entry.state;
}

Array Cache::append(Array& rows, const Array& added) const {
  const int64_t tokens = added.dim(1), width = added.dim(2);
  if (!rows) {
    rows = Array::uninitialised({1, capacity_, width});
  }
  std::copy_n(added.data(), tokens * width, rows.mutable_data() + length_ * width);
  return rows.prefix({1, length_ + tokens, width});
}

void Cache::throw_other_type(const Module& layer) {
  throw Error(text("cache: ", layer.path(),
                   " asks for a state of another type than in the pass before; use one struct"));
}

}  // namespace heed
