// Operations whose saved values are rewritten before the backward, which must notice.
#pragma once

#include <string>
#include <vector>

#include "tests/support/gradcases.h"

namespace heed::testing {

// More rows and more numbers than two chunks of a loop have.
inline const Shape many_rows{700, 129};
inline const Shape many_tokens{2, 300, 128};

struct SavedCase {
  const char* name;
  Function f;
  std::vector<Shape> shapes;
  std::string saved;  // 1 for an input, and at last the value, that the backward reads again
};

inline constexpr const char* rewritten_error = "was changed after it was used";

// The message of a backward whose input `k`, or value if there are no more inputs, was rewritten.
inline std::string error_after_rewriting(const SavedCase& c, size_t k) {
  std::vector<Tensor> leaves;
  for (const Shape& shape : c.shapes) leaves.push_back(wanted(values(shape, 0.5, 1.5)));
  Tensor y = c.f(leaves);
  {
    const NoGrad off;
    (k < leaves.size() ? leaves[k] : y).mutable_value()[0] = 7;
  }
  return error_of([&] { y.backward(Array::full(y.shape(), 1)); });
}

inline void check_case(const SavedCase& c) {
  REQUIRE(c.saved.size() == c.shapes.size() + 1);
  for (size_t k = 0; k < c.saved.size(); ++k) {
    const std::string error = error_after_rewriting(c, k);
    CAPTURE(c.name);
    CAPTURE(k);
    if (c.saved[k] == '1') {
      CHECK_MESSAGE(error.find(rewritten_error) != std::string::npos, error);
    } else {
      CHECK(error == "no error");
    }
  }
}

}  // namespace heed::testing
