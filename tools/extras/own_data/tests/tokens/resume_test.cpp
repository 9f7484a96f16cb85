// Runs on token files that are cut and resumed, as tests/train/checkpoint/resume_test.cpp.
#include "tests/support/resume_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

void write_ids(const TempDir& folder) {
  std::string bytes;
  for (int i = 0; i < 600; ++i) bytes += {static_cast<char>(i * i % 50), '\0'};
  write_text(folder / "ids.bin", bytes);
}

}  // namespace

TEST_CASE("resume: token files, with every optimizer") {
  const int threads = num_threads();
  size_t d = 0;
  for (const std::string sampling : {"", ", sampling: windows"}) {
    for (size_t o = 0; o < optimizers.size(); ++o) {
      const std::string data = "data={type: tokens, path: ids.bin, vocab_size: 50" + sampling + "}";
      CAPTURE(data);
      CAPTURE(optimizers[o]);
      check_resume(together({{data}, {optimizers[o], schedules[(d + o) % schedules.size()]}}),
                   write_ids);
    }
    ++d;
  }
  set_num_threads(threads);
}
