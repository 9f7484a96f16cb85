// Every operation has gradient cases, and all of them pass.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

namespace {

// A header that includes neither op.h nor another operation holds what operations share (norm.h).
bool is_operation(const std::filesystem::path& header) {
  std::stringstream text;
  text << std::ifstream(header).rdbuf();
  return text.str().find("#include \"autograd/op") != std::string::npos;
}

}  // namespace

TEST_CASE("all gradients: every header in autograd/ops has a case") {
  const std::filesystem::path folder = std::filesystem::path(HEED_SOURCE_DIR) / "autograd" / "ops";
  int headers = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".h" && is_operation(entry.path())) {
      ++headers;
      const std::string name = entry.path().stem().string();
      CHECK_MESSAGE(grad_cases().count(name) == 1, name,
                    ".h has no gradient cases: list them in tests/autograd/ops/", name,
                    "_test.cpp");
    }
  }
  CHECK(headers >= 35);
}

TEST_CASE("all gradients: the cases of all headers pass") {
  int total = 0;
  for (const auto& [header, fill] : grad_cases()) {
    const int cases = check_grad_cases(header);
    CHECK(cases > 0);
    total += cases;
  }
  MESSAGE("gradient cases: ", total, " of ", grad_cases().size(), " headers");
  CHECK(total >= 350);
}
