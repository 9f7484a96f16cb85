#include "train/run/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "autograd/base/error.h"
#include "layers/text/display.h"
#include "layers/text/fitted.h"
#include "layers/text/formatted.h"
#include "train/files/human_readable.h"

namespace heed {

constexpr double seconds_between_lines = 5;

std::string progress_text(const ProgressPoint& p, const std::string& bar, size_t most_columns) {
  const auto loss = [](const std::string& name, double value) {  // six columns from 0 to 1000
    return "  " + name + formatted(value < 10 ? " %.4f" : " %6.3f", value);
  };
  const std::string steps = std::to_string(p.steps), step = std::to_string(p.step);
  std::string line = text("step ", std::string(steps.size() - step.size(), ' '), step, "/", steps,
                          loss("loss", p.loss));
  if (p.val_loss || p.evaluates || !bar.empty()) {
    line += p.val_loss ? loss("val", *p.val_loss) : "  " + (bar.empty() ? "          " : bar);
  }
  for (const auto& [name, value] : p.added) line += loss(name, value);
  std::string lr = "  lr " + formatted("%.1e", p.lr), speed, left;
  if (p.in_steps > 0) {
    const auto each_second = std::llround(static_cast<double>(p.tokens) / p.in_steps);
    speed = formatted("  %7s tok/s", grouped(each_second).c_str());
    const double per_step = p.seconds / static_cast<double>(p.step - p.first_step);
    left = "  " + clock_text(per_step * static_cast<double>(p.steps - p.step)) + " left";
  }
  for (std::string* least : {&lr, &speed}) {
    if (display_width(line + lr + speed + left) > most_columns) least->clear();
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

std::string Progress::bar(const ProgressPoint& p) {
  constexpr int64_t cells = 10;  // as wide as "val 1.9880"
  const auto cell = static_cast<size_t>((p.step - 1) * cells / p.steps);
  losses_.resize(std::max(losses_.size(), cell + 1), p.loss);
  losses_[cell] += 0.3 * (p.loss - losses_[cell]);
  const auto [lowest, highest] = std::minmax_element(losses_.begin(), losses_.end());
  std::string bar;
  for (const double loss : losses_) {
    const double height = *highest > *lowest ? (loss - *lowest) / (*highest - *lowest) : 1;
    bar += {'\xE2', '\x96', static_cast<char>('\x81' + std::lround(7 * height))};  // ▁ to █
  }
  for (size_t empty = losses_.size(); empty < cells; ++empty) bar += "░";
  return bar;
}

void Progress::show(const ProgressPoint& p) {
  if (terminal_) {
    clear_line();
    // In a full line of a terminal the next character may begin another.
    const size_t columns = terminal_width(STDERR_FILENO).value_or(80) - 1;
    std::fputs(progress_text(p, bar(p), columns).c_str(), stderr);
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
    std::fprintf(stderr, "%s\n", progress_text(p).c_str());
    last_shown_ = p.seconds;
  }
}

void Progress::note(const std::string& line, const char* style) {
  clear_line();
  const std::string shown = fitted(printable_lines(line), terminal_width(STDERR_FILENO));
  std::fprintf(stderr, "%s\n", styled(shown, style, STDERR_FILENO).c_str());
}

}  // namespace heed
