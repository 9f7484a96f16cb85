// What a classifier of points in a plane answers all over the plane.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "train/data/task.h"

namespace heed {

// A class, and how sure the model is of it: from 0, as of the others, to 100 percent.
using Decision = std::array<int32_t, 2>;

struct Plane {
  static constexpr int64_t side = 64;
  std::array<double, 2> low = {}, high = {};  // x and y of its corners
  std::vector<Decision> cells;  // side x side, row by row from `low`: in their middles
  std::vector<std::array<double, 4>> points;  // x, y, the class, the answer
};

// With the first 1,000 examples to train on. Absent unless a task has points x (N, 1, 2) and wants
// a class, or -1 or 1: then the sign of the output answers.
std::optional<Plane> decisions_in_plane(Module& model, const Task& task);

}  // namespace heed
