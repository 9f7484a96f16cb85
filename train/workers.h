// The door for whoever shares the work of a run between several processes: Workers, GradientSum and
// HEED_WORKERS. Workers are the processes that train one model together, and the class is what the
// trainer asks of them. As it stands here it answers for a laptop, where there is one. Workers of
// one's own derive from it, answer differently, and are taken when their launcher has started heed.
//
// All workers run the same program on the same data, and ask the same questions in the same order.
// The answers are such that the result does not depend on how many they are.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "layers/module/registry.h"
#include "train/data/task.h"
#include "train/optim/gradient_sum.h"
#include "train/optim/optimizer.h"

namespace heed {

struct LoadedRun;
struct TrainConfig;

// Some of the things that are numbered from 0 on: [begin, end).
struct Part {
  int64_t begin = 0, end = 0;

  int64_t size() const { return end - begin; }
  bool holds(int64_t i) const { return begin <= i && i < end; }
};

// Part k of `count` things in order, cut into `parts` contiguous parts whose sizes differ by one at
// most.
inline Part part_of(int64_t count, int64_t parts, int64_t k) {
  const auto cut = [=](int64_t at) { return count / parts * at + count % parts * at / parts; };
  return {cut(k), cut(k + 1)};
}

// What an evaluation counts.
struct Tally {
  std::vector<double> losses;  // of each batch
  int64_t counted = 0;         // targets
  int64_t bytes = 0;           // that they stand for
  Score score;

  // Added in the order of the batches.
  double loss() const { return std::accumulate(losses.begin(), losses.end(), 0.0); }
};

// Where the workers are.
struct Placement {
  std::vector<std::string> plan_lines;  // about them, for the top of the plan
  int on_this_host = 1;                 // workers that share its memory
};

class Workers {
 public:
  Workers() = default;
  virtual ~Workers() = default;
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // ---- Asked by the commands that train.

  // Whether a launcher has started this process as one of several, as its environment says. May be
  // asked before join().
  virtual bool launched() const { return false; }
  // Finds the other workers. `command` is what this one does ("heed train --resume"). Throws
  // ConfigError on all of them unless they are the same program and do the same.
  virtual void join(const std::string& /*command*/) {}
  // Once all have read the config. Throws ConfigError on all workers if they differ in anything
  // that the bits depend on, or are too many.
  virtual Placement compare(const LoadedRun& /*run*/) { return {}; }
  // The last call. A worker that ends without it, after an error, ends all the others.
  virtual void leave() {}
  // After an error, before its message is printed. Most errors are those of all workers, and the
  // message of rank 0 is enough: the others wait here for it to end them.
  virtual void await_rank_0() {}

  // ---- Who they are, what each says, and the sum of a step.

  virtual int size() const { return 1; }
  // 0 writes the run folder, samples, and what is printed. May be asked before join().
  virtual int rank() const { return 0; }
  // The values of all workers, by rank. None has it before all have asked.
  virtual std::vector<std::string> gather(const std::string& own) { return {own}; }
  // The sum that says which micro-batches of a step are this worker's. `parameters` outlive it.
  virtual std::unique_ptr<GradientSum> gradient_sum(const std::vector<NamedParameter>& parameters,
                                                    const TrainConfig& config);
  // How many copies of all gradients this worker holds in it, for the plan. Here: the sum so far.
  virtual double gradient_copies(const TrainConfig& /*config*/) const { return 1; }
  // The tally of an evaluation, from each one's own, in the order of the batches.
  virtual Tally total(Tally own) { return own; }

  // ---- What follows from that.

  bool leads() const { return rank() == 0; }
  // Which of `count` batches of an evaluation are this worker's.
  Part share_of(int64_t count) const {
    return size() == 1 ? Part{0, count} : part_of(count, size(), rank());
  }
  // The value of rank 0: asked whenever one worker alone could decide, since only one sees Ctrl-C,
  // a clock or a folder.
  std::string agree(const std::string& own) { return gather(own).front(); }
  // The same for a value that is copied as bytes.
  template <class T>
  T agree(T own) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::string first = agree(std::string(reinterpret_cast<const char*>(&own), sizeof own));
    std::memcpy(&own, first.data(), sizeof own);
    return own;
  }
};

// The workers that are built into heed. A constructor does no more than it must for launched().
using WorkersRegistry = Registry<Workers>;
WorkersRegistry& workers_registry();
void register_workers(WorkersRegistry& registry);

// Those of a process alone: the first by name that are built in, never joined.
Workers& one_worker();

// Those whose launcher has started this process, not yet joined; else as one_worker(). Throws
// ConfigError if there are two.
std::unique_ptr<Workers> launched_workers(const WorkersRegistry& registry = workers_registry());

#define HEED_WORKERS(Class, name) \
  static_assert(std::is_base_of_v<heed::Workers, Class>, name " must derive from Workers")

// Runs a command with the workers of this process. Of an error that all meet, rank 0 alone tells.
int run_with_workers(const std::function<int(Workers&)>& command);

}  // namespace heed
