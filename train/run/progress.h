// What a run says while it trains: one line that is rewritten on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace heed {

struct ProgressPoint {
  int64_t first_step = 0;  // that were done before this process began
  int64_t step = 0;
  int64_t steps = 0;
  double loss = 0;
  std::optional<double> val_loss;
  double lr = 0;
  int64_t tokens = 0;  // trained on since this process began
  double seconds = 0;  // since then
};

// "step 500/2000   loss 1.9412   val 1.9880   lr 9.1e-04   62,300 tokens/s   0:34 left"
std::string progress_text(const ProgressPoint& point);

// Prints to standard error. A terminal sees every point in one line; a pipe or a file sees a line
// at each evaluation and otherwise at most one every few seconds.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const ProgressPoint& point);
  // A line of its own that stays.
  void note(const std::string& line);

 private:
  void clear_line();

  const bool terminal_;
  bool line_open_ = false;
  std::optional<double> last_shown_;
};

}  // namespace heed
