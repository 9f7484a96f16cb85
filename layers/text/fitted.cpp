#include "layers/text/fitted.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "layers/text/display.h"

namespace heed {

namespace {

// The columns before the last text after two blanks that begins in the first half of the line.
size_t indent_of_rest(std::string_view line, size_t width) {
  size_t indent = 0;
  for (size_t at = line.find_first_not_of(' ');
       at != std::string_view::npos && display_width(line.substr(0, at)) <= width / 2;
       at = line.find_first_not_of(' ', line.find("  ", at))) {
    indent = display_width(line.substr(0, at));
  }
  return indent;
}

void add_fitted(std::string line, size_t width, std::string& out) {
  const std::string indent(indent_of_rest(line, width), ' ');
  while (display_width(line) > width) {
    // The last blank before which the line fits, else the first one.
    const size_t first = line.find(' ', line.find_first_not_of(' '));
    size_t place = first;
    for (size_t blank = first; blank != std::string::npos &&
                               display_width(std::string_view(line).substr(0, blank)) <= width;
         blank = line.find(' ', blank + 1)) {
      place = blank;
    }
    const size_t rest = line.find_first_not_of(' ', place);
    if (rest == std::string::npos) {
      break;
    }
    out += line.substr(0, line.find_last_not_of(' ', place) + 1) + "\n";
    line = indent + line.substr(rest);
  }
  out += line;
}

}  // namespace

std::optional<size_t> terminal_width(int descriptor) {
  winsize size{};
  const bool known = isatty(descriptor) != 0 && ioctl(descriptor, TIOCGWINSZ, &size) == 0;
  return known && size.ws_col > 0 ? std::optional<size_t>(size.ws_col) : std::nullopt;
}

std::string fitted(std::string_view text, std::optional<size_t> width) {
  std::string out;
  while (width && !text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    add_fitted(std::string(text.substr(0, end)), *width, out);
    out += text.substr(end, 1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out + std::string(text);
}

bool has_color(int descriptor) {
  const char *const no_color = std::getenv("NO_COLOR"), *const term = std::getenv("TERM");
  return isatty(descriptor) != 0 && (no_color == nullptr || *no_color == '\0') && term != nullptr &&
         std::string_view(term) != "dumb";
}

std::string styled(const std::string& text, const char* style, int descriptor) {
  const bool shown = *style != '\0' && has_color(descriptor);
  return shown ? "\x1b[" + std::string(style) + "m" + text + "\x1b[0m" : text;
}

}  // namespace heed
