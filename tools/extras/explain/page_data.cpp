#include "tools/extras/explain/page_data.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/extras/explain/packed.h"

namespace heed::explain {

namespace {

using Json = nlohmann::ordered_json;

Json packed_matrix(const Array& matrix, Detail detail) {
  Json out{{"shape", matrix.shape().dims()}};
  if (detail == Detail::exact) {
    out["data"] = packed(matrix);
  } else if (detail != Detail::nothing) {
    const PackedRows rows = packed_rows(matrix, detail);
    out["bits"] = detail == Detail::sixteen_bits ? 16 : 8;
    out["data"] = rows.numbers;
    out["factors"] = rows.factors;
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
std::vector<Kept> fitting(const std::map<std::string, Array>& matrices, size_t most) {
  constexpr size_t around = 80;  // the JSON around the numbers of a matrix
  std::vector<Kept> kept;
  size_t length = 0;
  for (const auto& [name, matrix] : matrices) {
    kept.push_back({name, matrix});
    length += packed_size(matrix, Detail::exact) + name.size() + around;
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [](const Kept& a, const Kept& b) { return a.matrix.size() > b.matrix.size(); });
  for (const Detail next : {Detail::sixteen_bits, Detail::eight_bits, Detail::nothing}) {
    for (Kept& of : kept) {
      if (length > most) {
        length -= packed_size(of.matrix, of.detail);
        length += packed_size(of.matrix, next);
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
    page["tensors"][name] = {{"shape", values.shape().dims()}, {"data", packed(values)}};
  }
  if (picture) {
    page["picture"] = Json::parse(to_json(*picture));
  }
  const auto text_of = [&page] {
    return page.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  const size_t length = text_of().size();
  page["matrices"] = Json::object();
  for (const Kept& of : fitting(matrices_, most > length ? most - length : 0)) {
    page["matrices"][of.name] = packed_matrix(of.matrix, of.detail);
  }
  return text_of();
}

}  // namespace heed::explain
