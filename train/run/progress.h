// Progress output: one line that is rewritten on a terminal, plain lines elsewhere.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace heed {

struct ProgressPoint {
  int64_t first_step = 0;  // completed before this process started
  int64_t step = 0;
  int64_t steps = 0;
  double loss = 0;
  bool evaluates = false;  // the run has validation losses, though not at each point
  std::optional<double> val_loss;
  std::map<std::string, double> added = {};  // by layers to the loss
  double lr = 0;
  int64_t tokens = 0;   // trained on by this process
  double seconds = 0;   // since this process started
  double in_steps = 0;  // of these, in steps: without evaluations, samples and checkpoints
};

// One line; those of a run have the same columns. The speed is that of the steps alone; the time
// left counts everything. In more columns than most_columns the learning rate, then the speed are
// left out: metrics.csv has them. `bar`: ten columns in the place of a validation loss.
// "step  500/2000  loss 1.9412  val 1.9880  lr 9.1e-04   62,300 tok/s  0:34 left"
std::string progress_text(const ProgressPoint& point, const std::string& bar = "",
                          size_t most_columns = std::string::npos);

// Prints to standard error. A terminal shows every point on one line, with a bar that grows with
// the run: ten cells as high as the loss was. A pipe or file gets a line per evaluation, and
// otherwise at most one every few seconds.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const ProgressPoint& point);
  // Prints a permanent line, on a terminal in this style (styled() of layers/text/fitted.h).
  void note(const std::string& line, const char* style = "");

 private:
  void clear_line();
  std::string bar(const ProgressPoint& point);

  const bool terminal_;
  std::vector<double> losses_;  // smoothed, of each tenth of the run
  bool line_open_ = false;
  std::optional<double> last_shown_;
};

}  // namespace heed
