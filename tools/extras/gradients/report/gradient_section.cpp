#include "tools/extras/gradients/report/gradient_section.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "tools/extras/probe/json.h"
#include "tools/extras/report/pages/page.h"
#include "train/files/files.h"

namespace heed {

namespace {

constexpr int64_t largest_csv = int64_t{1} << 28;
constexpr size_t most_numbers = 60'000;

struct Norms {
  std::vector<int64_t> steps;
  std::vector<std::string> parameters;                 // of the first step
  std::vector<std::vector<std::array<double, 3>>> of;  // by step and parameter
};

// Rows that are no numbers, as a last one that is still being written, end the reading.
Norms read_norms(const std::string& file) {
  Norms norms;
  std::istringstream lines(file.substr(0, file.rfind('\n') + 1));
  std::string line, word, name;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::getline(words, word, ',');
    std::getline(words, name, ',');
    const int64_t step = std::atoll(word.c_str());
    std::array<double, 3> numbers{};
    for (double& number : numbers) {
      if (!std::getline(words, word, ',')) return norms;
      number = std::strtod(word.c_str(), nullptr);
    }
    if (norms.steps.empty() || norms.steps.back() != step) {
      norms.steps.push_back(step);
      norms.of.emplace_back();
    }
    if (norms.steps.size() == 1) norms.parameters.push_back(name);
    norms.of.back().push_back(numbers);
  }
  return norms;
}

}  // namespace

std::string GradientSection::data(const std::filesystem::path& run) const {
  using Object = nlohmann::ordered_json;
  const std::filesystem::path file = run / "gradients.csv";
  if (!is_there(file)) return "";
  const Norms norms = read_norms(read_file(file, largest_csv));
  const size_t parameters = norms.parameters.size();
  const char* const kinds[] = {"grad_norm", "weight_norm", "update_norm"};
  Object whole{{"steps", Object::array()}, {"parameters", norms.parameters}};
  const size_t most = parameters == 0 ? 0 : std::max<size_t>(2, most_numbers / 3 / parameters);
  const size_t kept = std::min(most, norms.steps.size());
  for (size_t i = 0; i < kept; ++i) {
    const size_t at = kept == 1 ? 0 : i * (norms.steps.size() - 1) / (kept - 1);
    if (norms.of[at].size() != parameters) continue;
    whole["steps"].push_back(norms.steps[at]);
    for (size_t k = 0; k < 3; ++k) {
      Object row = Object::array();
      for (const auto& of : norms.of[at]) row.push_back(static_cast<float>(of[k]));
      whole[kinds[k]].push_back(std::move(row));
    }
  }
  return whole["steps"].empty() ? "" : probe::dumped<Object>(whole);
}

std::string_view GradientSection::scripts() const { return asset("gradients/report"); }

}  // namespace heed
