#include "train/check/gradients/slopes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed {

namespace {

struct Sides {
  double left = std::numeric_limits<double>::quiet_NaN();
  double right = left;

  double jump() const { return std::abs(right - left); }
};

// Three-point one-sided differences, whose error is O(h^2):
//   f'(+0) = (4 f(h) - f(2h) - 3 f(0)) / 2h,   f'(-0) likewise with -h
Sides one_sided_differences(const Line& f, double h) {
  const double middle = f(0);
  return {(3 * middle - 4 * f(-h) + f(-2 * h)) / (2 * h),
          (4 * f(h) - f(2 * h) - 3 * middle) / (2 * h)};
}

bool is_between(double slope, const Sides& sides, double allowed) {
  return slope >= std::min(sides.left, sides.right) - allowed &&
         slope <= std::max(sides.left, sides.right) + allowed;
}

// True if the slopes stayed the same when the step shrank: the kink is at 0, not near it.
bool same_kink(const Sides& earlier, const Sides& now) {
  const double most = now.jump() / 4;
  return std::abs(now.left - earlier.left) <= most && std::abs(now.right - earlier.right) <= most;
}

}  // namespace

double central_difference(const Line& f, double h) {
  const double near = f(h) - f(-h);
  const double far = f(2 * h) - f(-2 * h);
  return (8 * near - far) / (12 * h);
}

CloserLook look_closer(const Line& f, double h, const Claim& claim) {
  const double mismatch = std::abs(claim.difference - claim.slope);
  CloserLook found{Agreement::none, claim.difference};
  Sides earlier;
  for (int halvings = 3; halvings <= 12; halvings += 3) {
    const double step = std::ldexp(h, -halvings);
    const double noise = 16 * claim.rounding / step;
    // A step so small that rounding could explain the mismatch proves nothing. Also ends for NaN.
    if (!(noise <= mismatch / 4)) {
      break;
    }
    const Sides now = one_sided_differences(f, step);
    const double allowed = claim.allowed + noise;
    for (const double side : {now.left, now.right}) {
      if (std::abs(side - claim.slope) <= allowed) {
        return {Agreement::equal, side};
      }
    }
    found = {Agreement::none, (now.left + now.right) / 2};
    if (now.jump() > std::max(4 * allowed, mismatch / 1000)) {
      found.agreement = same_kink(earlier, now) && is_between(claim.slope, now, allowed)
                            ? Agreement::between
                            : Agreement::kink;
    }
    earlier = now;
  }
  return found;
}

}  // namespace heed
