#include "tools/extras/explain/page_data.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "tools/extras/report/pages/base64.h"

namespace heed::explain {

namespace {

using Json = nlohmann::ordered_json;

// How exactly a matrix is kept.
enum class Detail {
  exact,         // as the engine has it: 32 or 64 bits a number
  sixteen_bits,  // whole numbers up to 32,767, times a factor for each row
  nothing,
};

// Numbers as text, with so many bits each.
std::string numbers_text(std::span<const real> numbers, int bits) {
  if (bits == 8 * static_cast<int>(sizeof(real))) return to_base64(std::as_bytes(numbers));
  const std::vector<float> rounded(numbers.begin(), numbers.end());
  return to_base64(std::as_bytes(std::span(rounded)));
}

// The characters that the numbers of a matrix take.
size_t text_size(const Array& matrix, Detail detail, int bits) {
  const auto of = [](size_t bytes) { return (bytes + 2) / 3 * 4; };
  const auto numbers = static_cast<size_t>(matrix.size()),
             rows = static_cast<size_t>(matrix.dim(0));
  const auto exact = static_cast<size_t>(bits / 8);  // bytes of a number
  return detail == Detail::nothing ? 0
         : detail == Detail::exact ? of(numbers * exact)
                                   : of(numbers * sizeof(int16_t)) + of(rows * exact);
}

void put_whole_numbers(const Array& matrix, int bits, Json& out) {
  constexpr double largest = 32767;
  const auto columns = static_cast<size_t>(matrix.dim(1));
  std::vector<int16_t> numbers;
  std::vector<real> factors;
  for (size_t begin = 0; begin < matrix.span().size(); begin += columns) {
    const std::span<const real> row = matrix.span().subspan(begin, columns);
    double most = 0;
    for (const real value : row) most = std::max(most, std::abs(static_cast<double>(value)));
    factors.push_back(static_cast<real>(most / largest));
    const double factor = most > 0 ? static_cast<double>(factors.back()) : 1;
    for (const real value : row) {
      const double share = std::round(static_cast<double>(value) / factor);
      numbers.push_back(static_cast<int16_t>(std::clamp(share, -largest, largest)));
    }
  }
  out["bits"] = 16;
  out["data"] = to_base64(std::as_bytes(std::span(numbers)));
  out["factors"] = numbers_text(factors, bits);
}

Json matrix_json(const Array& matrix, Detail detail, int bits) {
  Json out{{"shape", matrix.shape().dims()}};
  if (detail == Detail::exact) {
    out["data"] = numbers_text(matrix.span(), bits);
  } else if (detail == Detail::sixteen_bits) {
    put_whole_numbers(matrix, bits, out);
  }
  return out;
}

Json as_json(const Step& step) {
  Json out{{"id", step.id},
           {"kind", step.kind},
           {"title", step.title},
           {"of", step.of},
           {"rows", step.rows}};
  if (!step.part.empty()) {
    out["part"] = step.part;
  }
  for (const auto& [name, value] : step.more) {
    Json& to = out[name];
    std::visit([&to](const auto& of) { to = of; }, value);
  }
  return out;
}

Json as_json(const Section& section) {
  Json out{{"id", section.id}, {"title", section.title}, {"steps", Json::array()}};
  for (const Step& step : section.steps) {
    out["steps"].push_back(as_json(step));
  }
  for (const LensGuess& guess : section.lens) {
    Json position{{"token", guess.token}, {"probability", guess.probability}};
    if (guess.rank) {
      position["rank"] = *guess.rank;
    }
    out["lens"].push_back(std::move(position));
  }
  return out;
}

struct Kept {
  std::string name;
  Array matrix;
  Detail detail = Detail::exact;
};

// What of each matrix fits into `most` characters.
std::vector<Kept> fitting(const std::map<std::string, Array>& matrices, size_t most, int bits) {
  constexpr size_t around = 80;  // the JSON around the numbers of a matrix
  std::vector<Kept> kept;
  size_t length = 0;
  for (const auto& [name, matrix] : matrices) {
    kept.push_back({name, matrix});
    length += text_size(matrix, Detail::exact, bits) + name.size() + around;
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [](const Kept& a, const Kept& b) { return a.matrix.size() > b.matrix.size(); });
  for (const Detail next : {Detail::sixteen_bits, Detail::nothing}) {
    for (Kept& of : kept) {
      if (length > most) {
        length -= text_size(of.matrix, of.detail, bits);
        length += text_size(of.matrix, next, bits);
        of.detail = next;
      }
    }
  }
  return kept;
}

}  // namespace

std::string PageData::add(Step step, const Array& value) {
  std::string id = step.id;
  if (value) {
    vector(id, value);
  }
  sections_.back().steps.push_back(std::move(step));
  return id;
}

std::string PageData::json(size_t most) const {
  Json page{{"sections", Json::array()}, {"tensors", Json::object()}};
  for (const Section& section : sections_) {
    page["sections"].push_back(as_json(section));
  }
  for (const auto& [name, values] : tensors_) {
    page["tensors"][name] = {{"shape", values.shape().dims()},
                             {"data", numbers_text(values.span(), bits())}};
  }
  if (picture) {
    page["picture"] = Json::parse(to_json(*picture));
  }
  const auto text_of = [&page] {
    return page.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  const size_t length = text_of().size();
  page["matrices"] = Json::object();
  for (const Kept& of : fitting(matrices_, most > length ? most - length : 0, bits())) {
    page["matrices"][of.name] = matrix_json(of.matrix, of.detail, bits());
  }
  return text_of();
}

}  // namespace heed::explain
