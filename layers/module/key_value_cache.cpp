#include "layers/module/key_value_cache.h"

#include "layers/module/module.h"

namespace heed {

KeyValueCache::KeysValues KeyValueCache::extend(const Module& layer, const Tensor& keys,
                                                const Tensor& values) {
  require(keys.rank() == 3 && keys.dim(0) == 1 && values.rank() == 3 && values.dim(0) == 1,
          "key/value cache: expected keys and values (1, t, d), got ", keys.shape(), " and ",
          values.shape());
  require<GraphError>(!NoGrad::recording(), "key/value cache: expected NoGrad, got a graph");
  Rows& rows = layers_[&layer];
  require<Error>(rows.pass != pass_, "key/value cache: ", layer.path(),
                 " attends twice in one forward pass; call advance() after each pass, and say "
                 "Signature::cache only if every layer attends once");
  KeysValues all{Tensor(append(rows.keys, keys)), Tensor(append(rows.values, values))};
  rows.pass = pass_;
  return all;
}

Array KeyValueCache::append(Array& rows, const Tensor& added) const {
  const int64_t tokens = added.dim(1), width = added.dim(2);
  require(length_ + tokens <= capacity_, "key/value cache: expected at most ", capacity_,
          " tokens, got ", length_, " and ", tokens, " more");
  if (!rows) {
    rows = Array::uninitialised({1, capacity_, width});
  }
  std::copy_n(added.value().data(), tokens * width, rows.mutable_data() + length_ * width);
  return rows.prefix({1, length_ + tokens, width});
}

}  // namespace heed
