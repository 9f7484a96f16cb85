#include "train/extras/processes/shard_sum.h"

#include <algorithm>
#include <string_view>

#include "autograd/threads/parallel.h"
#include "train/extras/processes/pass_over.h"

namespace heed {

namespace {

// Elements of a piece: large enough that a message costs little, small enough that the first sums
// are on their way back while other pieces are still sent, and that every rank has its share of
// them. Tags limit how many pieces there can be.
constexpr int64_t most_elements = int64_t{1} << 18, least_elements = int64_t{1} << 12;
constexpr int64_t most_pieces = int64_t{1} << 14;
constexpr int first_tag = 1;  // 0 is that of gather_all

int tag_of(size_t piece) { return first_tag + static_cast<int>(piece); }

// to_i <- ((from[0]_i + from[1]_i) + from[2]_i) + ...; `to` may be one of them.
void add_in_order(const std::vector<const real*>& from, int64_t count, real* to) {
  parallel_for(count, elementwise_grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      real sum = from[0][i];
      for (size_t term = 1; term < from.size(); ++term) sum += from[term][i];
      to[i] = sum;
    }
  });
}

// A loss as bytes: its sum, its targets, how many losses layers have added, and for each of them
// its sum and its name, which ends in a zero.
void append_loss(const LossSum& loss, std::string& bytes) {
  append_number(loss.loss, bytes);
  append_number(loss.targets, bytes);
  append_number(loss.added.size(), bytes);
  for (const auto& [name, sum] : loss.added) {
    append_number(sum, bytes);
    bytes.append(name.c_str(), name.size() + 1);
  }
}
LossSum next_loss(std::string_view& bytes) {
  LossSum loss;
  loss.loss = next_number<double>(bytes);
  loss.targets = next_number<int64_t>(bytes);
  for (size_t left = next_number<size_t>(bytes); left > 0; --left) {
    const auto sum = next_number<double>(bytes);
    const std::string name(bytes.substr(0, bytes.find('\0')));
    bytes.remove_prefix(name.size() + 1);
    loss.added[name] = sum;
  }
  return loss;
}

Communicator::Bytes bytes_of(real* values, int64_t count) {
  return std::as_writable_bytes(std::span(values, static_cast<size_t>(count)));
}

}  // namespace

ShardSum::ShardSum(const std::vector<NamedParameter>& parameters, int64_t accumulate,
                   int64_t shards, Communicator& ranks)
    : GradientSum(parameters, accumulate, shards),
      ranks_(ranks),
      own_(part_of(shards, ranks.size(), ranks.rank())) {
  cut_into_pieces();
  start_receiving();
}

// Each piece goes to the rank that has the least so far.
void ShardSum::cut_into_pieces() {
  int64_t total = 0;
  for (const NamedParameter& parameter : parameters_) total += parameter.tensor.size();
  const int64_t most = std::max(std::clamp(total / ranks_.size(), least_elements, most_elements),
                                total / most_pieces + 1);
  std::vector<int64_t> load(static_cast<size_t>(ranks_.size()));
  for (size_t p = 0; p < parameters_.size(); ++p) {
    first_piece_.push_back(pieces_.size());
    const int64_t size = parameters_[p].tensor.size();
    for (int64_t begin = 0; begin < size; begin += most) {
      const auto least = std::min_element(load.begin(), load.end());
      const Piece piece{p, begin, std::min(size, begin + most),
                        static_cast<int>(least - load.begin())};
      *least += piece.size();
      pieces_.push_back(piece);
    }
  }
  first_piece_.push_back(pieces_.size());
}

int64_t ShardSum::term_of(int rank, int64_t shard) const {
  return rank == 0 ? 0 : shard - part_of(shards_, ranks_.size(), 0).size() + 1;
}

void ShardSum::start_receiving() {
  gathered_.resize(pieces_.size());
  for (size_t k = 0; k < pieces_.size(); ++k) {
    const Piece& piece = pieces_[k];
    if (piece.owner != ranks_.rank()) {
      continue;
    }
    Gathered& gathered = gathered_[k];
    gathered.missing = terms();
    gathered.from.resize(static_cast<size_t>(terms()));
    for (int rank = 0; rank < ranks_.size(); ++rank) {
      const Part theirs = part_of(shards_, ranks_.size(), rank);
      for (int64_t shard = rank == 0 ? theirs.end - 1 : theirs.begin;
           rank != ranks_.rank() && shard < theirs.end; ++shard) {
        Array& into = gathered.received.emplace_back(Array::uninitialised(Shape{piece.size()}));
        const auto term = static_cast<size_t>(term_of(rank, shard));
        ++under_way_;
        ranks_.receive(rank, tag_of(k), bytes_of(into.mutable_data(), piece.size()),
                       [this, k, term, values = into.data()] {
                         --under_way_;
                         arrived(k, term, values);
                       });
      }
    }
  }
}

bool ShardSum::begin(int64_t micro_batch, Module& model, const Batch& batch) {
  if (!own_.holds(micro_batch / in_shard())) {
    pass_over(model, batch);
    return false;
  }
  return true;
}

// Into arrays of the shard; on rank 0, into the sum of its shards.
void ShardSum::add_shard(const LossSum& loss) {
  if (ranks_.rank() > 0 || shards_taken_.empty()) {
    shards_taken_.emplace_back(parameters_.size());
  }
  for (size_t p = 0; p < parameters_.size(); ++p) {
    take(p, shards_taken_.back()[p]);
    if (sends()) send(p);
  }
  losses_.push_back(loss);
}

// To the owners of the pieces. The last shard to leave makes room for the sum.
void ShardSum::send(size_t p) {
  const bool last = is_last();
  const auto term = static_cast<size_t>(term_of(ranks_.rank(), shard()));
  for (size_t k = first_piece_[p]; k < first_piece_[p + 1]; ++k) {
    const Piece& piece = pieces_[k];
    const real* const values = std::as_const(shards_taken_.back()[p]).data() + piece.begin;
    if (piece.owner == ranks_.rank()) {
      arrived(k, term, values);
      continue;
    }
    ++under_way_;
    ranks_.send(piece.owner, tag_of(k),
                std::as_bytes(std::span(values, static_cast<size_t>(piece.size()))),
                [this, k, last] {
                  --under_way_;
                  if (last) receive_sum(k);
                });
  }
}

void ShardSum::receive_sum(size_t k) {
  const Piece& piece = pieces_[k];
  ++under_way_;
  ranks_.receive(piece.owner, tag_of(k), bytes_of(result(piece) + piece.begin, piece.size()),
                 [this] { --under_way_; });
}

void ShardSum::arrived(size_t k, size_t term, const real* values) {
  Gathered& gathered = gathered_[k];
  gathered.from[term] = values;
  if (--gathered.missing == 0) {
    add_and_send(k);
  }
}

void ShardSum::add_and_send(size_t k) {
  const Piece& piece = pieces_[k];
  real* const sum = result(piece) + piece.begin;
  add_in_order(gathered_[k].from, piece.size(), sum);
  gathered_[k] = {};
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    if (rank != ranks_.rank()) {
      ++under_way_;
      ranks_.send(rank, tag_of(k), bytes_of(sum, piece.size()), [this] { --under_way_; });
    }
  }
}

// The losses in the order of the shards, which is that of the ranks. Also tells each rank which
// parameters have a gradient in the shards of others.
LossSum ShardSum::add_losses() {
  std::string own = present_;
  for (const LossSum& loss : losses_) append_loss(loss, own);
  LossSum total;
  for (const std::string& of_rank : gather_all(ranks_, own)) {
    for (size_t p = 0; p < present_.size(); ++p) {
      present_[p] = present_[p] != 0 || of_rank[p] != 0 ? '\1' : '\0';
    }
    std::string_view losses(of_rank);
    losses.remove_prefix(present_.size());
    while (!losses.empty()) total += next_loss(losses);
  }
  return total;
}

LossSum ShardSum::total() {
  const LossSum losses = add_losses();
  ranks_.wait_until([this] { return under_way_ == 0; });
  for (size_t p = 0; p < parameters_.size(); ++p) {
    if (present_[p] != 0) {
      Tensor parameter = parameters_[p].tensor;
      parameter.set_grad(std::move(shards_taken_.back()[p]));
    }
  }
  return losses;
}

}  // namespace heed
