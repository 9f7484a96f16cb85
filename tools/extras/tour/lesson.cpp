#include "tools/extras/tour/lesson.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "tools/extras/report/print.h"
#include "tools/extras/tour/digits.h"

namespace heed::tour {

namespace {

using Json = nlohmann::json;

// The names a text may refer to, in addition to the values of its step.
std::map<std::string, std::string> common_words(const TourInputs& in) {
  constexpr size_t most = 12;  // longer sentences are shortened
  std::string sentence;
  for (size_t i = 0; i < std::min(most, in.words.size()); ++i) {
    sentence += (i > 0 ? " " : "") + in.words[i];
  }
  sentence += in.words.size() > most ? " ... " + in.words.back() : "";
  return {{"T", text(in.tokens())},      {"d", text(in.width())}, {"seed", text(in.seed)},
          {"seed_v2", text(in.seed_v2)}, {"sentence", sentence},  {"query_word", in.words[1]}};
}

class Writer {
 public:
  Writer(const TourInputs& in, const StepValues& shown, size_t width, bool in_digits)
      : words_(common_words(in)), width_(width), in_digits_(in_digits) {
    for (const StepValues::Entry& entry : shown.entries()) {
      std::visit([&](const auto& value) { add_value(entry.name, value); }, entry.value);
    }
  }

  std::string write(const std::string& text) const {
    std::istringstream lines(text);
    std::string all, block;
    for (std::string line; std::getline(lines, line);) {
      if (line.empty()) {
        add(all, block);
        block.clear();
      } else {
        block += (block.empty() ? "" : "\n") + line;
      }
    }
    add(all, block);
    return all;
  }

 private:
  // A paragraph's word, or a block of lines.
  template <class T>
  void add_value(const std::string& name, const T& shown) {
    if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, Ids>) {
      words_[name] = printed(shown);
      if constexpr (std::is_same_v<T, Tensor>) {
        if (in_digits_) words_[name] = three_digits(shown);
      }
      shapes_[name] = shown.rank() > 0 ? text(", shape ", shown.shape()) : "";
    } else {
      words_[name] = text(shown);
      shapes_[name] = "";
    }
  }

  void add(std::string& all, const std::string& block) const {
    if (block.empty()) {
      return;
    }
    const bool whole = block.front() == '{' && block.back() == '}';
    const bool kept = block.front() == ' ';
    all += (all.empty() ? "" : "\n") + (whole  ? value(block.substr(1, block.size() - 2))
                                        : kept ? filled_in(block) + "\n"
                                               : wrapped(filled_in(block)));
  }

  // Turns "name = how" into "name = how, shape (T, d):" and the value on the next lines. A name
  // alone prints only its value.
  std::string value(const std::string& heading) const {
    const std::string name = heading.substr(0, heading.find(' '));
    const auto found = words_.find(name);
    require<Error>(found != words_.end(), "tour: a text refers to ", name, ", which is not shown");
    const std::string& shape = shapes_.at(name);
    const bool bare = heading == name && shape.empty();
    const std::string shown =
        (bare ? "" : filled_in(heading) + shape + ":\n") + found->second + "\n";
    const auto check = words_.find(name + "_check");
    return check == words_.end() || !in_digits_
               ? shown
               : side_by_side(shown, "by differences:\n" + check->second + "\n", width_);
  }

  // Replaces {name} by its value as text; other braces are left alone.
  std::string filled_in(const std::string& block) const {
    std::string all;
    for (size_t at = 0; at < block.size();) {
      const size_t end = block[at] == '{' ? block.find('}', at) : std::string::npos;
      const auto word =
          end == std::string::npos ? words_.end() : words_.find(block.substr(at + 1, end - at - 1));
      all += word == words_.end() ? block.substr(at, 1) : word->second;
      at = word == words_.end() ? at + 1 : end + 1;
    }
    return all;
  }

  std::string wrapped(const std::string& block) const {
    std::istringstream words(block);
    std::string all, line;
    for (std::string word; words >> word;) {
      if (!line.empty() && line.size() + 1 + word.size() > width_) {
        all += line + "\n";
        line.clear();
      }
      line += (line.empty() ? "" : " ") + word;
    }
    return all + line + "\n";
  }

  std::map<std::string, std::string> words_;   // name -> value
  std::map<std::string, std::string> shapes_;  // name -> ", shape (6, 3)", or ""
  const size_t width_;
  const bool in_digits_;
};

Json number(real value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char digits[64];  // the shortest float that reads back; JSON only has doubles
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
  double shortest = 0;
  std::from_chars(std::begin(digits), end, shortest);
  return shortest;
}
Json number(int32_t value) { return value; }

// Nested lists with the nesting of the shape.
template <class T>
Json nested(const Shape& shape, int axis, const T*& next) {
  if (axis == shape.rank()) {
    return number(*next++);
  }
  Json list = Json::array();
  for (int64_t i = 0; i < shape[axis]; ++i) {
    list.push_back(nested(shape, axis + 1, next));
  }
  return list;
}

struct AsJson {
  Json operator()(const Tensor& tensor) const { return list(tensor.value()); }
  Json operator()(const Ids& ids) const { return list(ids); }
  Json operator()(int64_t count) const { return count; }
  Json operator()(const std::string& words) const { return words; }

  template <class T>
  static Json list(const BasicArray<T>& values) {
    const T* next = values.data();
    return nested(values.shape(), 0, next);
  }
};

}  // namespace

StepValues run(const Step& step, const TourInputs& in) {
  std::optional<NoGrad> off;
  if (!step.records) off.emplace();
  StepValues shown;
  step.run(in, shown);
  return shown;
}

std::string lesson(const Step& step, const TourInputs& in, const StepValues& shown, size_t width) {
  const std::string line(width, '=');
  return text(line, "\n", step.name, ": ", step.title, "\n", "source: ", step.source,
              "\ncode:   ", step.file, "\n", line, "\n",
              Writer(in, shown, width, step.in_float64).write(step.text));
}

std::vector<std::string> json_lines(const Step& step, const StepValues& shown, bool all) {
  std::vector<std::string> lines;
  for (const StepValues::Entry& entry : shown.entries()) {
    if ((!entry.key.empty() && !entry.alone) || all) {
      const std::string key = entry.key.empty() ? step.name + "." + entry.name : entry.key;
      lines.push_back(Json(key).dump() + ": " + std::visit(AsJson{}, entry.value).dump());
    }
  }
  return lines;
}

std::string page_json(const std::vector<Step>& steps, const TourInputs& in,
                      const std::string& computed) {
  const Json elsewhere = Json::parse(computed);
  const auto list = [&](const std::vector<StepValues::Entry>& entries, const std::string& step) {
    nlohmann::ordered_json values = nlohmann::ordered_json::object();
    for (const StepValues::Entry& entry : entries) {
      const auto found = elsewhere.find(step + "." + entry.name);
      values[entry.name] = found != elsewhere.end() ? *found : std::visit(AsJson{}, entry.value);
    }
    return values;
  };
  nlohmann::ordered_json page{{"version", HEED_VERSION},
                              {"bits", 8 * sizeof(real)},
                              {"words", in.words},
                              {"common", common_words(in)},
                              {"inputs", AsJson{}(in.inputs)},
                              {"steps", nlohmann::ordered_json::array()}};
  for (const Step& step : steps) {
    const StepValues shown = run(step, in);
    page["steps"].push_back({{"name", step.name},
                             {"title", step.title},
                             {"source", step.source},
                             {"file", step.file},
                             {"text", step.text},
                             {"values", list(shown.entries(), step.name)},
                             {"drawn", list(shown.drawn(), step.name)}});
  }
  return page.dump();
}

}  // namespace heed::tour
