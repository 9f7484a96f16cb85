#include "train/run/progress.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "autograd/base/error.h"
#include "layers/text/display.h"
#include "layers/text/fitted.h"
#include "layers/text/formatted.h"
#include "train/files/number_words.h"

namespace heed {

constexpr double seconds_between_lines = 5;

std::string progress_text(const ProgressPoint& p) {
  constexpr size_t widest =
      79;  // of a terminal of 80 columns, where a full line may add an empty one
  std::string line = text("step ", p.step, "/", p.steps, "   loss ", loss_text(p.loss));
  if (p.val_loss) {
    line += "   val " + loss_text(*p.val_loss);
  }
  for (const auto& [name, loss] : p.added) line += "   " + name + " " + loss_text(loss);
  std::string lr = "   lr " + formatted("%.1e", p.lr), speed, left;
  if (p.in_steps > 0) {
    speed =
        text("   ", grouped(std::llround(static_cast<double>(p.tokens) / p.in_steps)), " tokens/s");
    const double per_step = p.seconds / static_cast<double>(p.step - p.first_step);
    left = "   " + clock_text(per_step * static_cast<double>(p.steps - p.step)) + " left";
  }
  for (std::string* least : {&lr, &speed}) {
    if (line.size() + lr.size() + speed.size() + left.size() > widest) least->clear();
  }
  return line + lr + speed + left;
}

Progress::Progress() : terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (line_open_) {
    std::fputc('\n', stderr);
  }
}

void Progress::clear_line() {
  if (line_open_) {
    std::fputs("\r\033[K", stderr);
    line_open_ = false;
  }
}

void Progress::show(const ProgressPoint& p) {
  std::string line = progress_text(p);
  if (terminal_) {
    clear_line();
    std::fputs(line.c_str(), stderr);
    line_open_ = !p.val_loss && p.step != p.steps;
    if (!line_open_) {
      std::fputc('\n', stderr);  // keep evaluations and the last step on screen
    }
    std::fflush(stderr);
    return;
  }
  const bool due = !last_shown_ || p.val_loss || p.step == p.steps ||
                   p.seconds - *last_shown_ >= seconds_between_lines;
  if (due) {
    std::fprintf(stderr, "%s\n", line.c_str());
    last_shown_ = p.seconds;
  }
}

void Progress::note(const std::string& line) {
  clear_line();
  const std::optional<size_t> width = terminal_width(STDERR_FILENO);
  std::fprintf(stderr, "%s\n", fitted(printable_lines(line), width).c_str());
}

}  // namespace heed
