#include "train/check/gradients/slopes.h"

#include "tests/support/near.h"

using namespace heed;
using namespace heed::testing;

namespace {

constexpr double h = 1e-4;

double relu_at(double x) { return std::max(x, 0.0); }

// What is found about `slope` as that of f at x.
Agreement agreement(const Line& f, double x, double slope) {
  const Line line = [&](double t) { return f(x + t); };
  return look_closer(line, h, {slope, central_difference(line, h), 1e-8, 1e-16}).agreement;
}

}  // namespace

TEST_CASE("slopes: the central difference is that of a polynomial of degree 4") {
  const double found = central_difference(
      [](double t) { return 3 + 2 * t + 5 * t * t - t * t * t + 7 * t * t * t * t; }, 0.25);
  CHECK(std::abs(found - 2) < 1e-12);
}

TEST_CASE("slopes: a wrong slope of a smooth function agrees with nothing") {
  const Line cube = [](double x) { return x * x * x; };
  const Line wave = [](double x) { return std::sin(40 * x); };
  for (const double factor : {0.0, -1.0, 0.5, 0.999, 1.0001, 2.0}) {
    CAPTURE(factor);
    CHECK(agreement(cube, 0.7, factor * 3 * 0.49) == Agreement::none);
    CHECK(agreement(wave, 0.3, factor * 40 * std::cos(12)) == Agreement::none);
  }
  CHECK(agreement(relu_at, 0.5, 0.5) == Agreement::none);
  CHECK(agreement(relu_at, -0.5, 0.01) == Agreement::none);
}

TEST_CASE("slopes: beside a kink, the slope of the side is right and no other") {
  for (const double x : {1.5e-4, 5e-5, 1e-5, 1e-6, 1e-7}) {
    CAPTURE(x);
    CHECK(agreement(relu_at, x, 1) == Agreement::equal);
    CHECK(agreement(relu_at, -x, 0) == Agreement::equal);
    for (const double wrong : {-1.0, 0.5, 0.99, 2.0}) {
      CHECK(agreement(relu_at, x, wrong) == Agreement::none);
      CHECK(agreement(relu_at, -x, 1 - wrong) == Agreement::none);
    }
    CHECK(agreement(relu_at, x, 0) == Agreement::none);
    CHECK(agreement(relu_at, -x, 1) == Agreement::none);
  }
}

TEST_CASE("slopes: at a kink both sides are right, and what lies between them") {
  CHECK(agreement(relu_at, 0, 0) == Agreement::equal);
  CHECK(agreement(relu_at, 0, 1) == Agreement::equal);
  CHECK(agreement(relu_at, 1e-10, 1) == Agreement::equal);
  CHECK(agreement(relu_at, -1e-10, 0) == Agreement::equal);
  for (const double x : {0.0, 1e-10, -1e-10}) {
    CAPTURE(x);
    CHECK(agreement(relu_at, x, 0.3) == Agreement::between);
    CHECK(agreement(relu_at, x, 1.01) == Agreement::kink);
    CHECK(agreement(relu_at, x, -0.01) == Agreement::kink);
  }
}

TEST_CASE("slopes: a jump, a root and NaN are no kinks") {
  const Line jump = [](double x) { return x < 0 ? 0.0 : 1.0; };
  CHECK(agreement(jump, 0, 0.5) != Agreement::equal);
  CHECK(agreement(jump, 0, 0.5) != Agreement::between);
  const Line root = [](double x) { return std::sqrt(std::abs(x)); };
  CHECK(agreement(root, 0, 3) == Agreement::kink);
  const Line nan = [](double) { return std::nan(""); };
  CHECK(agreement(nan, 0, 1) == Agreement::none);
  CHECK(agreement([](double x) { return x; }, 0, std::nan("")) == Agreement::none);
}

TEST_CASE("slopes: a mismatch that rounding explains at smaller steps proves nothing") {
  const Line line = [](double t) { return t; };
  const Claim claim{1 + 2e-8, 1, 1e-8, 1e-12};  // values known to 1e-12 only
  CHECK(look_closer(line, h, claim).agreement == Agreement::none);
}
