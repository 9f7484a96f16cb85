// How the shards of a step (train/optim/gradient_sum.h) are divided among processes.
//
//   accumulate 8, shards 4, 3 processes
//   micro-batch   0 1 | 2 3 | 4 5 | 6 7
//   shard           0 |   1 |   2 |   3
//   process         0 |   1 |   2     2
#pragma once

#include "train/workers.h"

namespace heed {

// How many copies of all gradients a process holds in ShardSum: those of its own shards, and, for
// the pieces that it owns, those of the shards of others. Rank 0 has the sum of its shards and the
// one that it computes.
inline double gradient_copies(int64_t shards, int ranks, int rank) {
  const int64_t own = part_of(shards, ranks, rank).size();
  const int64_t of_rank_0 = part_of(shards, ranks, 0).size();
  const int64_t others = rank == 0 ? shards - of_rank_0 : shards - of_rank_0 + 1 - own;
  return static_cast<double>(rank == 0 && own > 2 ? 2 : own) + static_cast<double>(others) / ranks;
}

}  // namespace heed
