// 100 training steps compared with PyTorch's, which are in tests/golden/traces (made by
// tools/reference/train_traces.py).
#include "tests/support/traces.h"

#include <nlohmann/json.hpp>

#include "autograd/base/error.h"
#include "autograd/base/real.h"
#include "tests/support/run_program.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

// The largest deviation of loss and gradient norm, as a fraction of the tolerance.
struct Worst {
  double loss = 0, grad_norm = 0;
};

Worst compare(const Trace& trace, const Json& golden) {
  if constexpr (is_float64) {
    return {worst(trace.loss, golden["float64"]["loss"], 100) / 1e-8,
            worst(trace.grad_norm, golden["float64"]["grad_norm"], 100, [](double want) {
              return std::abs(want);
            }) / 1e-8};
  }
  const auto part = [&](const std::vector<double>& got, const char* what) {
    const double allowed = 3 * golden["difference"]["largest"][what].get<double>();
    return worst(got, golden["float32"][what], 100) / allowed;
  };
  return {part(trace.loss, "loss"), part(trace.grad_norm, "grad_norm")};
}

}  // namespace

// Tolerances. float64: 1e-8, absolute for the loss, relative for the norm. float32: 3 times the
// difference between PyTorch with 1 and with 2 threads.
TEST_CASE("traces: 100 steps are PyTorch's") {
  Worst all;
  const fs::path traces = fs::path(HEED_SOURCE_DIR) / "tests/golden/traces";
  int compared = 0, without_float32 = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(traces)) {
    const Json golden = Json::parse(read_text(entry.path()));
    const std::string name = entry.path().stem().string();
    if (!is_float64 && !golden.contains("float32")) {
      ++without_float32;
      continue;
    }
    const Trace trace = trace_of(golden["config"], traces);
    CHECK(worst(trace.lr, golden["lr"], 100) < 1e-17);
    const Worst here = compare(trace, golden);
    CHECK_MESSAGE(here.loss <= 1, name, ": loss");
    CHECK_MESSAGE(here.grad_norm <= 1, name, ": grad_norm");
    all.loss = std::max(all.loss, here.loss);
    all.grad_norm = std::max(all.grad_norm, here.grad_norm);
    ++compared;
  }
  CHECK(compared == (is_float64 ? 16 : 14));
  CHECK(without_float32 == (is_float64 ? 0 : 2));
  MESSAGE(text(compared, " traces; of what is allowed, the worst loss takes ", all.loss,
               ", the worst gradient norm ", all.grad_norm));
}
