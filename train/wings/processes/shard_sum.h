// The loss and the gradients of a step, summed shard by shard, over all processes.
//   g = ((g_0 + g_1) + g_2) + ...    g_s = the gradients of shard s, summed over its micro-batches
//
// Between processes, every gradient is cut into pieces, and each piece has an owner. The owner
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

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "autograd/graph/leaf_observer.h"
#include "layers/module/module.h"
#include "train/wings/processes/communicator.h"
#include "train/wings/processes/shards.h"

namespace heed {

struct LossSum {
  double loss = 0;
  int64_t targets = 0;  // that were counted
};

class ShardSum {
 public:
  // `parameters` have no gradient yet. All three must outlive the sum. shards >= ranks.size().
  ShardSum(const std::vector<NamedParameter>& parameters, int64_t shards, Communicator& ranks);

  // The shards of this process.
  Part own() const { return own_; }

  // For the last backward pass of the next own shard: while the result exists, gradients leave for
  // the other processes as soon as they are complete. Null if there are no others.
  std::unique_ptr<LeafObserver> send_early();

  // Takes the next own shard: its loss and the gradients, which the parameters then have no more. A
  // parameter without a gradient counts as zeros.
  void add_shard(const LossSum& loss);

  // Gives the sums to the parameters, as their gradients, once the other processes have sent
  // theirs. A parameter that has none in any shard keeps none. Returns the sum of the losses.
  LossSum finish();

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
  void begin_shard();
  void take(size_t parameter);
  void send(size_t parameter);
  void receive_sum(size_t piece);
  void arrived(size_t piece, size_t term, const real* values);
  void add_and_send(size_t piece);
  LossSum add_losses();
  int64_t term_of(int rank, int64_t shard) const;
  int64_t terms() const { return term_of(ranks_.size(), shards_); }
  real* result(const Piece& piece) { return shards_taken_.back()[piece.parameter].mutable_data(); }
  bool shared() const { return ranks_.size() > 1; }

  const std::vector<NamedParameter>& parameters_;
  const int64_t shards_;
  Communicator& ranks_;
  const Part own_;
  std::vector<LossSum> losses_;  // of own shards
  std::string present_;          // a byte a parameter: 1 if any shard has a gradient
  std::vector<std::vector<Array>> shards_taken_;          // own ones; of rank 0 one, the sum so far
  std::vector<char> taken_;                               // by parameter, of the shard under way
  std::unordered_map<const Node*, size_t> parameter_of_;  // by leaf
  std::vector<Piece> pieces_;
  std::vector<size_t> first_piece_;  // of each parameter, and the number of all
  std::vector<Gathered> gathered_;   // by piece; empty for pieces of others
  int64_t under_way_ = 0;            // sends and receives
};

}  // namespace heed
