// What the page of `heed explain` is given: sections of steps, the tensor of each step, and the
// weights from which it follows.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "autograd/array/array.h"

namespace heed::explain {

using Json = nlohmann::ordered_json;

// A step of a forward pass as JSON: {"id", "kind", "title", "of": [ids of the steps it reads],
// "rows": names of its rows, ...}. tools/explain/README.md lists the kinds with what else each has.
using Step = Json;

class PageData {
 public:
  // Steps belong to the section that was begun last.
  void begin_section(const std::string& id, const std::string& title);
  // The section that was begun last, for what else it shows.
  Json& section() { return sections_.back(); }
  // Adds a step. value: (rows, columns) or (H, rows, columns); none for a step whose numbers follow
  // from one operation on those of others, such as a sum. Returns the step's id.
  std::string add(Step step, const Array& value = {});

  // A vector that belongs to a step, such as a bias. Kept exactly.
  void vector(const std::string& name, const Array& values);
  // A matrix (d_out, d_in): only the terms of dot products need it, so it may be kept less exactly.
  void matrix(const std::string& name, const Array& values);

  // Adds what a page needs to `page`: its sections, tensors and matrices. If all of it would be
  // longer than `most` characters, the matrices are kept less exactly, the largest first; those
  // that do not even fit with eight bits are left out.
  void write(Json& page, size_t most) const;

 private:
  Json sections_ = Json::array();
  Json tensors_ = Json::object();
  std::map<std::string, Array> matrices_;
};

}  // namespace heed::explain
