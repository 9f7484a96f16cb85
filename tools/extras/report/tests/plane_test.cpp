// The decisions of a classifier of points, in cells and at the points themselves.
#include "tools/extras/report/plane.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/layer_cases.h"
#include "tests/support/temp_dir.h"
#include "tests/support/training_run.h"
#include "tools/extras/report/record.h"

using namespace heed;
using namespace heed::testing;

namespace {

constexpr auto side = static_cast<size_t>(Plane::side);

// Points (N, 1, d), of which there is one batch with this target or these targets.
class PointsTask final : public Task {
 public:
  PointsTask(const Array& x, const Array& numbers, const Ids& classes) {
    data_ = std::make_unique<FixedExamples>(
        FixedExamples::Counts{x.dim(0), 1}, false, [=](Split, const std::vector<int64_t>& which) {
          const auto rows = [&](const auto& all) {
            using Of = std::decay_t<decltype(all)>;
            return all ? Of::from(all.shape().with(0, std::ssize(which)),
                                  all.span().first(which.size() *
                                                   static_cast<size_t>(all.size() / x.dim(0))))
                       : Of();
          };
          return Batch{Input(Tensor(rows(x))), rows(classes), rows(numbers)};
        });
  }
  ModelSizes model_sizes() const override { return {}; }
  std::string description() const override { return "points"; }
};

const Array points = Array::from({4, 1, 2}, {-1, 0, 2, 1, real{0.5}, 0, real{1.5}, -1});

// One output or two, x and -x of a point (x, y).
std::unique_ptr<Module> first_number(int64_t outputs) {
  auto model = layer_of(text("{type: linear, bias: false, d_in: 2, d_out: ", outputs, "}"));
  const std::vector<real> weights{1, 0, -1, 0};
  set_parameter(
      *model, "weight",
      Array::from({outputs, 2}, std::span(weights).first(static_cast<size_t>(2 * outputs))));
  return model;
}

// The first number in the middle of a cell.
double middle(const Plane& plane, size_t cell) {
  const double share = (static_cast<double>(cell % side) + 0.5) / Plane::side;
  return std::lerp(plane.low[0], plane.high[0], share);
}

bool is_absent(const Array& x, const Array& numbers, const Ids& classes = {}) {
  return !decisions_in_plane(*first_number(1), PointsTask(x, numbers, classes));
}

}  // namespace

TEST_CASE("decisions: the sign of a number, and how far it is from 0") {
  const PointsTask task(points, Array::from({4, 1, 1}, {-1, 1, -1, 1}), {});
  const auto plane = decisions_in_plane(*first_number(1), task);
  REQUIRE(plane);
  using Point = std::array<double, 4>;
  CHECK(plane->points ==
        std::vector<Point>{{-1, 0, 0, 0}, {2, 1, 1, 1}, {0.5, 0, 0, 1}, {1.5, -1, 1, 1}});
  CHECK(plane->low[0] == doctest::Approx(-1.301));
  CHECK(plane->high[1] == doctest::Approx(1.201));
  REQUIRE(plane->cells.size() == side * side);
  for (const size_t cell : {size_t{0}, side / 2, side * side - 1}) {
    const double x = middle(*plane, cell);
    CHECK(plane->cells[cell] ==
          Decision{x > 0, static_cast<int32_t>(std::lround(100 * std::tanh(std::abs(x))))});
  }
}

TEST_CASE("decisions: the likeliest class, and how far it is from chance") {
  const PointsTask task(points, {}, Ids::from({4, 1}, {1, 0, ignored_target, 1}));
  const auto plane = decisions_in_plane(*first_number(2), task);
  REQUIRE(plane);
  using Point = std::array<double, 4>;
  CHECK(plane->points == std::vector<Point>{{-1, 0, 1, 1}, {2, 1, 0, 0}, {1.5, -1, 1, 0}});
  for (const size_t cell : {size_t{5}, side * side - 9}) {
    const double x = middle(*plane, cell);
    CHECK(plane->cells[cell] ==
          Decision{x < 0, static_cast<int32_t>(std::lround(100 * std::tanh(std::abs(x))))});
  }
}

TEST_CASE("decisions: only of points in a plane and of classes") {
  const Array signs = Array::from({4, 1, 1}, {-1, 1, -1, 1});
  CHECK(!is_absent(points, signs));
  CHECK(is_absent(points, Array::from({4, 1, 1}, {-1, 1, -1, 0})));
  CHECK(is_absent(points, Array::full({4, 1, 2}, 1)));
  CHECK(is_absent(Array::full({4, 1, 3}, 1), signs));
  CHECK(is_absent(Array::full({4, 2, 2}, 1), Array::full({4, 2, 1}, 1)));
  CHECK(is_absent(points, {}, Ids::full({4, 1}, ignored_target)));
}

TEST_CASE("decisions: in report.json, and not if they are damaged") {
  const TempDir folder;
  ReportRecord record;
  record.plane = decisions_in_plane(*first_number(1),
                                    PointsTask(points, Array::from({4, 1, 1}, {-1, 1, -1, 1}), {}));
  record.facts = {{"model", "linear"}};
  const std::string whole = to_json(record);
  write_text(folder / "report.json", whole);
  const auto read = read_record(folder / "report.json").plane;
  REQUIRE(read);
  CHECK(read->cells == record.plane->cells);
  CHECK(read->points == record.plane->points);
  for (const auto& [right, wrong] : std::vector<std::pair<std::string, std::string>>{
           {"\"cells\":[[", "\"cells\":[[0,0],["}, {"\"points\":[[", "\"points\":[[1],["}}) {
    std::string damaged = whole;
    damaged.replace(damaged.find(right), right.size(), wrong);
    write_text(folder / "report.json", damaged);
    CHECK(read_record(folder / "report.json").facts.empty());
  }
}
