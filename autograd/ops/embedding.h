// Rows of a table, as torch.nn.functional.embedding.     weight (V, D), ids (...) -> y (..., D)
//   y_i        = weight[ids_i]
//   dweight[v] = sum of dy_i over all i with ids_i = v     saves ids
// ShapeError if an id is not in [0, V). In the backward each thread adds all dy_i, in order of i,
// to some of the columns of dweight. This needs no atomics and gives the same bits for any number
// of threads.
#pragma once

#include "autograd/array/ids.h"
#include "autograd/op.h"

namespace heed {

namespace detail {
void gather_rows(const Array& weight, const Ids& ids, Array& y);
void scatter_rows(int64_t table_size, const Ids& ids, const Array& dy, Grads& grads);
}  // namespace detail

[[nodiscard]] inline Tensor embedding(const Tensor& weight, const Ids& token_ids) {
  const Ids ids = token_ids.current();
  require(weight.rank() == 2, "embedding: expected weight (V, D), got ", weight.shape());
  check_ids("embedding", ids, weight.dim(0), "; the table has as many rows as the vocabulary");
  Array y = Array::uninitialised(ids.shape().inserted(ids.rank(), weight.dim(1)));
  detail::gather_rows(weight.value(), ids, y);
  return record("embedding", std::move(y), {weight},
                [ids, table_size = weight.size()](const Array& dy, Grads& grads) {
                  detail::scatter_rows(table_size, ids, dy, grads);
                });
}

}  // namespace heed
