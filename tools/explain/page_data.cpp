#include "tools/explain/page_data.h"

#include <algorithm>

#include "tools/explain/packed.h"

namespace heed::explain {

namespace {

std::vector<int64_t> sizes_of(const Array& values) {
  std::vector<int64_t> sizes;
  for (int axis = 0; axis < values.rank(); ++axis) {
    sizes.push_back(values.dim(axis));
  }
  return sizes;
}

size_t size_of(const Array& matrix, Detail detail) {
  return packed_size(matrix.dim(0), matrix.dim(1), detail);
}

Json packed_matrix(const Array& matrix, Detail detail) {
  Json out{{"shape", sizes_of(matrix)}};
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

}  // namespace

void PageData::begin_section(const std::string& id, const std::string& title) {
  sections_.push_back({{"id", id}, {"title", title}, {"steps", Json::array()}});
}

std::string PageData::add(Step step, const Array& value) {
  std::string id = step.at("id").get<std::string>();
  if (value) {
    vector(id, value);
  }
  section()["steps"].push_back(std::move(step));
  return id;
}

void PageData::vector(const std::string& name, const Array& values) {
  tensors_[name] = {{"shape", sizes_of(values)}, {"data", packed(values)}};
}

void PageData::matrix(const std::string& name, const Array& values) { matrices_[name] = values; }

void PageData::write(Json& page, size_t most) const {
  page["sections"] = sections_;
  page["tensors"] = tensors_;
  size_t length = page.dump(-1, ' ', false, Json::error_handler_t::replace).size();
  struct Kept {
    const std::string* name;
    const Array* matrix;
    Detail detail;
  };
  std::vector<Kept> kept;
  for (const auto& [name, matrix] : matrices_) {
    kept.push_back({&name, &matrix, Detail::exact});
    length += size_of(matrix, Detail::exact) + name.size() + 80;  // 80: the JSON around the numbers
  }
  std::stable_sort(kept.begin(), kept.end(), [](const Kept& a, const Kept& b) {
    return a.matrix->size() > b.matrix->size();
  });
  for (const Detail next : {Detail::sixteen_bits, Detail::eight_bits, Detail::nothing}) {
    for (Kept& of : kept) {
      if (length > most) {
        length -= size_of(*of.matrix, of.detail) - size_of(*of.matrix, next);
        of.detail = next;
      }
    }
  }
  page["matrices"] = Json::object();
  for (const Kept& of : kept) {
    page["matrices"][*of.name] = packed_matrix(*of.matrix, of.detail);
  }
}

}  // namespace heed::explain
