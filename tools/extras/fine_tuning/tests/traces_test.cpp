// 30 steps of chapters 6 and 7 and appendix E of the book, and of training on documents, compared
// with PyTorch's, which are in tests/golden/fine_tuning (made by tools/reference/
// fine_tuning_golden.py, instruction_trace.py and lines_traces.py).
#include "tests/support/traces.h"

#include <nlohmann/json.hpp>

#include "autograd/base/real.h"
#include "tests/support/run_program.h"

using namespace heed;
using namespace heed::testing;

namespace {

const std::filesystem::path loops = HEED_SOURCE_DIR "/tests/golden/fine_tuning";

nlohmann::json golden_of(const std::string& name) {
  return nlohmann::json::parse(read_text(loops / (name + ".json")));
}

}  // namespace

TEST_CASE("book: 30 steps of chapter 6 and appendix E follow PyTorch's") {
  for (const std::string name :
       {"chapter_6", "chapter_6_dropout", "appendix_e", "appendix_e_dropout"}) {
    const auto golden = golden_of(name);
    const double loss = worst(trace_of(golden["config"], loops).loss, golden[precision_name], 30);
    CHECK_MESSAGE(loss <= (is_float64 ? 1e-9 : 1e-4), name, ": ", loss);
  }
}

// The answer masked, and the book's collation.
TEST_CASE("instructions: the losses of 30 steps are PyTorch's") {
  const auto golden = golden_of("instructions");
  const double loss = worst(trace_of(golden["config"], loops).loss, golden[precision_name], 30);
  CHECK(loss <= (is_float64 ? 1e-8 : 1e-3));
}

TEST_CASE("lines: 30 steps are PyTorch's") {
  const auto golden = golden_of("lines");
  for (const char* const name : {"plain", "dropout"}) {
    CAPTURE(name);
    const Trace trace = trace_of(golden[name]["config"], loops);
    CHECK(worst(trace.loss, golden[name]["loss"], 30) < (is_float64 ? 1e-8 : 1e-4));
    CHECK(worst(trace.grad_norm, golden[name]["grad_norm"], 30) < (is_float64 ? 1e-7 : 1e-3));
  }
}
