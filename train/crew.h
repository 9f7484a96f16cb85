// The door for whoever shares the work of a run between several processes: Crew, GradientSum and
// HEED_CREW. A crew is the processes that train one model together, and Crew is what the trainer
// asks of the others. As it stands here it answers for a laptop, where there are none. A crew of
// one's own derives from it, answers differently, and is taken when its launcher has started heed.
//
// All members of a crew run the same program on the same data, and ask the same questions in the
// same order. The answers are such that the result does not depend on how many they are.
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

// What an evaluation counts.
struct Tally {
  std::vector<double> losses;  // of each batch
  int64_t counted = 0;         // targets
  int64_t bytes = 0;           // that they stand for
  Score score;

  // Added in the order of the batches.
  double loss() const { return std::accumulate(losses.begin(), losses.end(), 0.0); }
};

// What a member knows of the others before the first step.
struct Acquaintance {
  std::vector<std::string> plan_lines;  // about the members, for the top of the plan
  int on_this_host = 1;                 // members that share its memory
};

class Crew {
 public:
  Crew() = default;
  virtual ~Crew() = default;
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // ---- Coming together and parting: asked by the commands that train.

  // Whether a launcher has started this process as a member. It can be asked first of all, and
  // says nothing but what the environment says. Here: no.
  virtual bool launched() const { return false; }

  // Finds the other members. `command` is what this one does ("heed train --resume"). Throws
  // ConfigError on all members unless they are the same program and do the same.
  virtual void join(const std::string& /*command*/) {}

  // Once all have read the config. Throws ConfigError on all members if they differ in anything
  // that the bits depend on, or are too many. Here: no lines, alone on the host.
  virtual Acquaintance introduce(const LoadedRun& /*run*/) { return {}; }

  // The last word of a member. One that ends without it, after an error, ends all the others.
  virtual void leave() {}

  // After an error, before its message is printed. Most errors are those of all members, and the
  // leader's message is enough: the others wait here for it to end them.
  virtual void let_leader_speak() {}

  virtual int size() const { return 1; }  // members
  // The one that writes the run folder, samples, and what is printed. May be asked before join().
  virtual bool leads() const { return true; }

  // ---- Agreement: asked by the trainer whenever one member alone could decide, since only one
  // sees Ctrl-C, a clock or a folder.

  // The leader's value. Here: one's own.
  virtual std::string agree(std::string own) { return own; }
  // The same for a value that is copied as bytes.
  template <class T>
  T agree(T own) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::string first = agree(std::string(reinterpret_cast<const char*>(&own), sizeof own));
    std::memcpy(&own, first.data(), sizeof own);
    return own;
  }

  // The values of all members, the leader's first. No member has it before all have asked. Here:
  // one's own.
  virtual std::vector<std::string> gather(const std::string& own) { return {own}; }

  // ---- A step: asked by train_step, and by the plan for its memory.

  // The sum that says which micro-batches of a step are this member's. `parameters` outlive it.
  virtual std::unique_ptr<GradientSum> gradient_sum(const std::vector<NamedParameter>& parameters,
                                                    const TrainConfig& config);
  // How many copies of all gradients this member holds in such a sum. Here: the sum so far.
  virtual double gradient_copies(const TrainConfig& /*config*/) const { return 1; }

  // ---- An evaluation: asked by evaluate.

  // Which of `count` batches are this member's. Here: all.
  virtual Part share_of(int64_t count) const { return {0, count}; }
  // The tally of all members, from each one's own, in the order of the batches.
  virtual Tally total(Tally own) { return own; }
};

// The crew of a process that has no others: the first by name that is built in, not joined.
Crew& alone();

// The crews that are built into heed. A constructor does no more than it must for launched().
using CrewRegistry = Registry<Crew>;
CrewRegistry& crew_registry();
void register_crews(CrewRegistry& registry);

// The one whose launcher has started this process, not yet joined; else as alone(). Throws
// ConfigError if there are two.
std::unique_ptr<Crew> launched_crew(const CrewRegistry& registry = crew_registry());

#define HEED_CREW(Class, name) \
  static_assert(std::is_base_of_v<heed::Crew, Class>, name " must derive from Crew")

// Runs a command with the crew of this process. Of an error that all members meet, the leader
// alone tells.
int run_in_crew(const std::function<int(Crew&)>& command);

}  // namespace heed
