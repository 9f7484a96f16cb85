#include "tools/extras/tour/digits.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <vector>

#include "layers/text/formatted.h"

namespace heed::tour {

namespace {

std::string with_three_digits(double x) {
  const double size = std::abs(x);
  if (x == 0) return "0";  // nor "-0"
  if (!std::isfinite(x)) return formatted("%g", x);
  if (size < 1e-4 || size >= 1000) return formatted("%.2e", x);
  return formatted("%.*f", 2 - static_cast<int>(std::floor(std::log10(size))), x);
}

std::vector<std::string> lines_in(const std::string& block) {
  std::istringstream stream(block);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::string three_digits(const Tensor& x) {
  std::vector<std::string> numbers;
  size_t before = 0, after = 0;  // the point: characters
  const auto point = [](const std::string& number) {
    return std::min(number.find('.'), number.size());
  };
  for (const real number : x.value().span()) {
    numbers.push_back(with_three_digits(number));
    before = std::max(before, point(numbers.back()));
    after = std::max(after, numbers.back().size() - point(numbers.back()));
  }
  const size_t columns = x.rank() > 0 ? static_cast<size_t>(x.dim(-1)) : 1;
  std::string all;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const std::string& number = numbers[i];
    const bool last = (i + 1) % columns == 0;
    const size_t right = last ? 0 : after - (number.size() - point(number));
    all += std::string(2 + before - point(number), ' ') + number + std::string(right, ' ');
    if (last && i + 1 < numbers.size()) all += '\n';
  }
  return all;
}

std::string side_by_side(const std::string& left, const std::string& right, size_t width) {
  const std::vector<std::string> first = lines_in(left), second = lines_in(right);
  const auto widest = [](const std::vector<std::string>& lines) {
    size_t most = 0;
    for (const std::string& line : lines) most = std::max(most, line.size());
    return most;
  };
  const size_t gap = 4, column = widest(first) + gap;
  if (column + widest(second) > width) return left + right;
  std::string all;
  for (size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
    const std::string line = i < first.size() ? first[i] : "";
    all += i < second.size() ? line + std::string(column - line.size(), ' ') + second[i] : line;
    all += '\n';
  }
  return all;
}

}  // namespace heed::tour
