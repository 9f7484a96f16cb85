// Progress output: one line that is rewritten on a terminal, plain lines elsewhere.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace heed {

struct ProgressPoint {
  int64_t first_step = 0;  // completed before this process started
  int64_t step = 0;
  int64_t steps = 0;
  double loss = 0;
  std::optional<double> val_loss;
  std::map<std::string, double> added = {};  // by layers to the loss
  double lr = 0;
  int64_t tokens = 0;   // trained on by this process
  double seconds = 0;   // since this process started
  double in_steps = 0;  // of these, in steps: without evaluations, samples and checkpoints
};

// The speed is that of the steps alone; the time left counts everything. In more than 79 columns
// the learning rate, and then the speed, are left out: metrics.csv has them.
// "step 500/2000   loss 1.9412   val 1.9880   lr 9.1e-04   62,300 tokens/s   0:34 left"
std::string progress_text(const ProgressPoint& point);

// Prints to standard error. A terminal shows every point on one line. A pipe or file gets a line
// per evaluation, and otherwise at most one every few seconds.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const ProgressPoint& point);
  // Prints a permanent line.
  void note(const std::string& line);

 private:
  void clear_line();

  const bool terminal_;
  bool line_open_ = false;
  std::optional<double> last_shown_;
};

}  // namespace heed
