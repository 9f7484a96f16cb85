#include "layers/config/errors.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace heed {

bool ConfigErrors::check_divides(const ConfigNode& map, const std::string& field, int64_t value,
                                 const std::string& other, int64_t value_of_other) {
  const bool divides = value_of_other % value == 0;
  if (!divides) {
    add_field(map, field, "must divide ", other, ": ", other, " is ", value_of_other, ", ", field,
              " is ", value);
  }
  return divides;
}

void ConfigErrors::reword_unknown_keys(
    const std::function<std::string(const ConfigMistake&)>& reword) {
  for (ConfigMistake& mistake : mistakes_) {
    if (!mistake.unknown_key.empty()) {
      mistake.message = reword(mistake);
    }
  }
}

void ConfigErrors::excuse(const std::function<bool(const ConfigMistake&)>& follows) {
  std::erase_if(mistakes_, follows);
}

bool ConfigErrors::are_within(const std::string& path) const {
  return std::any_of(mistakes_.begin(), mistakes_.end(), [&](const ConfigMistake& mistake) {
    return mistake.path == path || mistake.path.starts_with(path + ".");
  });
}

namespace {

std::string line_of(const ConfigMistake& mistake) {
  const std::string path = mistake.path.empty() ? "" : mistake.path + ": ";
  const std::string place = mistake.mark.file ? to_text(mistake.mark) + ": " : "";
  return printable(place, 1000) + printable(path, 300) + printable(mistake.message, 2000);
}

}  // namespace

std::vector<ConfigMistake> ConfigErrors::sorted() const {
  std::vector<std::string> files;
  const auto rank = [&](const ConfigMark& mark) {  // sorts the command line after the files
    const std::string file = mark.file ? *mark.file : "";
    const auto place = std::find(files.begin(), files.end(), file);
    const auto index = place - files.begin();
    if (place == files.end()) {
      files.push_back(file);
    }
    return std::pair(file.starts_with(command_line_prefix), index);
  };
  using Key = std::tuple<std::pair<bool, std::ptrdiff_t>, int64_t, int64_t, const ConfigMistake*>;
  std::vector<Key> order;
  for (const ConfigMistake& mistake : mistakes_) {
    order.emplace_back(rank(mistake.mark), mistake.mark.line, mistake.mark.column, &mistake);
  }
  std::sort(order.begin(), order.end());
  std::vector<ConfigMistake> sorted;
  std::set<std::string> seen;
  for (const auto& [file, line, column, mistake] : order) {
    const std::string written = line_of(*mistake);
    // A longer version replaces the one before it.
    if (!sorted.empty() && written.starts_with(line_of(sorted.back()))) {
      seen.erase(line_of(sorted.back()));
      sorted.pop_back();
    }
    if (seen.insert(written).second) {
      sorted.push_back(*mistake);
    }
  }
  return sorted;
}

ConfigMistakes ConfigErrors::exception() const {
  constexpr size_t most = 200;  // a few screenfuls; more mistakes usually have a common cause
  std::vector<ConfigMistake> all = sorted();
  std::string joined;
  for (size_t i = 0; i < std::min(all.size(), most); ++i)
    joined += (i ? "\n" : "") + line_of(all[i]);
  if (all.size() > most) {
    joined += text("\n... and ", all.size() - most, " more");
  }
  return {joined, std::move(all)};
}

}  // namespace heed
