// Slopes of a function of one number from its values, for gradient checks. They tell a wrong
// gradient from a right one beside or at a kink, such as that of relu at 0.
#pragma once

#include <functional>

namespace heed {

// t -> f(x + t u), for a fixed point x and a direction u. The slope in question is that at t = 0.
using Line = std::function<double(double t)>;

// The four-point central difference, whose error is O(h^4):
//   f'(0) = (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h
double central_difference(const Line& f, double h);

// An analytic slope that differs from the central difference.
struct Claim {
  double slope = 0;
  double difference = 0;  // the central difference
  double allowed = 0;     // the largest difference of equal slopes
  double rounding = 0;    // about the rounding error of a value of f
};

// How the claimed slope relates to the slopes of f on both sides of 0.
enum class Agreement {
  equal,    // to one of them: f is smooth there, and has a kink within h on the other side
  between,  // f has a kink at 0, and the slope is one that such a point may be given
  kink,     // f has kinks so close to 0 that the slope cannot be judged
  none,     // f is smooth, and the slope is wrong
};

struct CloserLook {
  Agreement agreement = Agreement::none;
  double difference = 0;  // the slope of f that was measured last
};

// Compares the claimed slope with one-sided differences at steps from h / 8 to h / 4096. Both sides
// of a smooth function agree, and so no wrong slope equals one of them. At a kink they disagree.
CloserLook look_closer(const Line& f, double h, const Claim& claim);

}  // namespace heed
