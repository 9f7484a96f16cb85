#include "layers/rope_scaling.h"

#include <cmath>

#include "layers/config/read.h"
#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

// transformers' _compute_llama3_parameters, in float32, for the numbers of Llama 3.2's config.json.
TEST_CASE("rope_scaling: the angles of Llama 3.2") {
  const RopeScaling scaling{.factor = 32, .original_max_position_embeddings = 8192};
  const std::vector<std::pair<int, double>> of_pair{
      {0, 1.0},                     // fast: as without scaling
      {10, 0.016560440883040428},   //
      {14, 0.0032114461064338684},  //
      {15, 0.0012905480107292533},  // in between
      {17, 9.708286233944818e-05},  //
      {18, 1.9461638657958247e-05},
      {24, 1.6619674170215148e-06},  // slow: 32 times slower
      {31, 9.418306490260875e-08}};
  for (const auto& [i, angle] : of_pair) {
    CHECK(scaling(std::pow(500000.0, -2.0 * i / 64)) == doctest::Approx(angle).epsilon(1e-6));
  }
  CHECK(RopeScaling{}(0.3) == 0.3);
}
