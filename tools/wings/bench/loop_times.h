// How long the chunks of shared loops take on one thread: what more threads would gain follows from
// that, see thread_model.h.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "autograd/graph/graph_observer.h"
#include "autograd/threads/loop_runner.h"

namespace heed {

// What one step ran: its loops with the seconds of each chunk.
struct StepTimes {
  struct Loop {
    std::string op;  // the operation that ran it, or "" if there was none
    double before;   // seconds since the previous loop ended: outside of loops
    std::vector<double> chunks;
  };
  std::vector<Loop> loops;
  double after;  // seconds since the last loop ended

  double total() const;
};

// Runs the loops of its thread chunk by chunk, and takes the time of each, under the name of the
// operation that it is a part of.
class LoopTimes final : public LoopRunner, public GraphObserver {
 public:
  StepTimes step() const;  // until now

  void run(int64_t count, int64_t grain, detail::ChunkBody body, void* context) override;
  void made(const char* op, const Array& /*value*/, int64_t /*numbers*/) override { label(op); }
  void pass_begins(std::span<const NodeRef> /*nodes*/) override { label(""); }
  void has_run(std::span<const NodeRef> nodes, size_t k, bool reached) override;
  void forward_begins() override { label(""); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    const char* op;
    double before;
    size_t end;  // of its chunks in chunks_
  };

  void label(const char* op);  // the loops since the last label belong to op

  std::vector<Entry> entries_;
  std::vector<double> chunks_;
  size_t labelled_ = 0;
  Clock::time_point last_end_ = Clock::now();
};

}  // namespace heed
