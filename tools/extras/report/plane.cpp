#include "tools/extras/report/plane.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "layers/module/evaluation_mode.h"
#include "train/data/generate.h"

namespace heed {

namespace {

// For each point (N, 1, 2), from logits (N, 1, classes) or from a number v: logits -v and v.
std::vector<Decision> decisions(Module& model, const Array& points) {
  const EvaluationMode evaluating(model);
  const Array out = model(Input(Tensor(points))).value();
  const int64_t width = out.size() / points.dim(0);
  std::vector<Decision> all;
  for (const real* at = out.data(); at < out.data() + out.size(); at += width) {
    const std::vector<real> row = width == 1 ? std::vector{-*at, *at} : std::vector(at, at + width);
    const std::vector<double> weights = sampling_weights(row, {});  // the largest is 1
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    const auto classes = static_cast<double>(row.size());
    const double sure = (classes / sum - 1) / (classes - 1);
    all.push_back({likeliest(row), static_cast<int32_t>(std::lround(100 * sure))});
  }
  return all;
}

}  // namespace

std::optional<Plane> decisions_in_plane(Module& model, const Task& task) {
  const auto examples = [&](int64_t count) {
    std::vector<int64_t> which(static_cast<size_t>(count));
    std::iota(which.begin(), which.end(), 0);
    return task.data().examples(Split::train, which);
  };
  const int64_t count = std::min<int64_t>(1000, task.data().example_count(Split::train));
  if (count == 0 || input_shape(examples(1)) != Shape{1, 1, 2}) return std::nullopt;
  const Batch batch = examples(count);
  const bool numbers = batch.target_values && batch.target_values.size() == count;
  if (!batch.targets && !numbers) return std::nullopt;

  const Array& x = batch.input.x.value();
  const std::vector<Decision> answers = decisions(model, x);
  Plane plane{{INFINITY, INFINITY}, {-INFINITY, -INFINITY}, {}, {}};
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    const double y =
        numbers ? (double(batch.target_values.data()[i]) + 1) / 2 : double(batch.targets.data()[i]);
    if (numbers && y != 0 && y != 1) return std::nullopt;
    if (y < 0) continue;  // does not count
    plane.points.push_back({x.data()[2 * i], x.data()[2 * i + 1], y, double(answers[at][0])});
    for (const size_t axis : {0, 1}) {
      plane.low[axis] = std::min(plane.low[axis], plane.points.back()[axis]);
      plane.high[axis] = std::max(plane.high[axis], plane.points.back()[axis]);
    }
  }
  if (plane.points.empty()) return std::nullopt;
  for (const size_t axis : {0, 1}) {
    const double margin = 0.1 * (plane.high[axis] - plane.low[axis]) + 1e-3;
    plane.low[axis] -= margin;
    plane.high[axis] += margin;
  }
  std::vector<real> middles;
  for (int64_t cell = 0; cell < Plane::side * Plane::side; ++cell) {
    for (const int64_t at : {cell % Plane::side, cell / Plane::side}) {
      const size_t axis = middles.size() % 2;
      const double share = (static_cast<double>(at) + 0.5) / Plane::side;
      middles.push_back(static_cast<real>(std::lerp(plane.low[axis], plane.high[axis], share)));
    }
  }
  plane.cells = decisions(model, Array::from({Plane::side * Plane::side, 1, 2}, middles));
  return plane;
}

}  // namespace heed
