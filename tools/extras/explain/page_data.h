// What the page of `heed explain` is given: sections of steps, the tensor of each step, and the
// weights from which it follows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "autograd/array/array.h"
#include "tools/extras/report/pages/picture.h"

namespace heed::explain {

// A step of a forward pass. tools/extras/explain/README.md lists the kinds, and what else each has.
struct Step {
  using Value =
      std::variant<bool, int64_t, double, std::string, std::vector<int32_t>, std::vector<double>>;
  std::string id, kind, title;
  std::vector<std::string> of = {};  // ids of the steps that it reads
  std::string rows = {};             // what its rows are, such as "ids"
  std::string part = {};             // of a block: "Attention"
  std::vector<std::pair<std::string, Value>> more = {};
};

// What a model would answer at a position (tools/extras/probe/lens.h).
struct LensGuess {
  std::string token;
  double probability = 0;
  std::optional<int64_t> rank;
};

struct Section {
  std::string id, title;
  std::vector<Step> steps = {};
  std::vector<LensGuess> lens = {};  // one for each position, or none
};

class PageData {
 public:
  // Steps belong to the section that was begun last.
  void begin_section(const std::string& id, const std::string& title) {
    sections_.push_back({id, title});
  }
  std::vector<Section>& sections() { return sections_; }
  const std::vector<Section>& sections() const { return sections_; }
  // Adds a step. value: (rows, columns) or (H, rows, columns); none for a step whose numbers follow
  // from one operation on those of others, such as a sum. Returns the step's id.
  std::string add(Step step, const Array& value = {});

  // A vector that belongs to a step, such as a bias. Kept exactly.
  void vector(const std::string& name, const Array& values) { tensors_[name] = values; }
  // A matrix (d_out, d_in): only the terms of dot products need it, so it may be kept less exactly.
  void matrix(const std::string& name, const Array& values) { matrices_[name] = values; }

  // What was added by this name; no array if nothing was.
  Array vector(const std::string& name) const { return found(tensors_, name); }
  Array matrix(const std::string& name) const { return found(matrices_, name); }

  // Whether numbers are kept as float32, also those of a program in float64; their bits.
  bool in_float32 = false;
  int bits() const { return in_float32 ? 32 : 8 * static_cast<int>(sizeof(real)); }

  std::optional<ShownPicture> picture;  // what a model of pictures has read

  // The JSON object {"sections", "tensors", "matrices"}, and "picture" if there is one. If it would
  // be longer than `most` characters, matrices are kept with 16 bits a number, the largest first;
  // those that do not even fit then are left out.
  std::string json(size_t most) const;

 private:
  static Array found(const std::map<std::string, Array>& in, const std::string& name) {
    const auto at = in.find(name);
    return at == in.end() ? Array() : at->second;
  }

  std::vector<Section> sections_;
  std::map<std::string, Array> tensors_, matrices_;
};

}  // namespace heed::explain
