// The sum of a step (train/optim/gradient_sum.h) whose shards are divided among processes, with the
// same bits.
//
// Every gradient is cut into pieces, and each piece has an owner. The owner
// receives the piece of every shard, adds them in order, and sends the sum to the others. Rank 0
// has the first shards, so it adds its own before it sends anything. Traffic of a rank for N ranks
// with one shard each: (N - 1) / N of all gradients out and in, twice; no other order of a sum with
// the same bits for any N needs less.
//
//   shards        0 1 | 2   | 3
//   rank            0 |   1 |   2
//   piece 0 (of 0)  a     b     c    rank 0: (a + b) + c, a = its two shards
//   piece 1 (of 1)  a     b     c    rank 1: the same
#pragma once

#include <vector>

#include "train/extras/processes/communicator.h"
#include "train/extras/processes/shards.h"
#include "train/workers.h"

namespace heed {

class ShardSum final : public GradientSum {
 public:
  // `ranks` must outlive the sum, too. There are two or more, and at least as many shards.
  ShardSum(const std::vector<NamedParameter>& parameters, int64_t accumulate, int64_t shards,
           Communicator& ranks);

  // The shards of this process.
  Part own() const { return own_; }

  // Passes over micro-batches of other processes.
  bool begin(int64_t micro_batch, Module& model, const Batch& batch) override;

  void add_shard(const LossSum& loss) override;

  // Waits for the sums of the other processes.
  LossSum total() override;

 protected:
  // Rank 0 has the first micro-batch.
  int64_t counted_first(int64_t counted) override { return from_first(ranks_, counted); }

 private:
  // Elements [begin, end) of a parameter.
  struct Piece {
    size_t parameter = 0;
    int64_t begin = 0, end = 0;
    int owner = 0;
    int64_t size() const { return end - begin; }
  };
  // What the owner of a piece gathers. The first term of its sum is the sum of rank 0, the others
  // are the shards of the other ranks.
  struct Gathered {
    std::vector<Array> received;
    std::vector<const real*> from;  // by term
    int64_t missing = 0;
  };

  void cut_into_pieces();
  void start_receiving();
  int64_t shard() const { return own_.begin + static_cast<int64_t>(losses_.size()); }
  bool is_last() const { return shard() == own_.end - 1; }
  void send(size_t parameter);
  void receive_sum(size_t piece);
  void arrived(size_t piece, size_t term, const real* values);
  void add_and_send(size_t piece);
  LossSum add_losses();
  int64_t term_of(int rank, int64_t shard) const;
  int64_t terms() const { return term_of(ranks_.size(), shards_); }
  real* result(const Piece& piece) { return shards_taken_.back()[piece.parameter].mutable_data(); }
  // Rank 0 sends the sum of all its shards, the others send each of theirs.
  bool sends() const { return ranks_.rank() > 0 || is_last(); }

  Communicator& ranks_;
  const Part own_;
  std::vector<LossSum> losses_;                   // of own shards
  std::vector<std::vector<Array>> shards_taken_;  // own ones; of rank 0 one, the sum so far
  std::vector<Piece> pieces_;
  std::vector<size_t> first_piece_;  // of each parameter, and the number of all
  std::vector<Gathered> gathered_;   // by piece; empty for pieces of others
  int64_t under_way_ = 0;            // sends and receives
};

}  // namespace heed
