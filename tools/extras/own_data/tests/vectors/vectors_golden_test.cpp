// 30 steps of SGD on vectors compared with PyTorch's, which are in tests/golden/vectors (made by
// tools/reference/vectors_golden.py).
#include <nlohmann/json.hpp>

#include "autograd/base/real.h"
#include "tests/support/run_program.h"
#include "tests/support/traces.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("vectors: 30 steps of SGD follow PyTorch's") {
  const std::filesystem::path folder = HEED_SOURCE_DIR "/tests/golden/vectors";
  int compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    const auto golden = nlohmann::json::parse(read_text(entry.path()));
    const double loss = worst(trace_of(golden["config"], folder).loss, golden[precision_name], 30);
    CHECK_MESSAGE(loss <= (is_float64 ? 1e-11 : 1e-5), entry.path().stem().string(), ": ", loss);
    ++compared;
  }
  CHECK(compared == 4);
}
