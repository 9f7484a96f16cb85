// Each process has one precision. What hands over to which: tests/transcripts/precision.txt.
#include <doctest/doctest.h>

#include "autograd/base/error.h"
#include "autograd/base/real.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

TEST_CASE("precision: a program with the library of the other one is refused, both named") {
  const std::string probe = is_float64 ? "precision_probe_f64" : "precision_probe_f32";
  const ProgramResult right = run_program(probe, {});
  CHECK(right.exit_code == 0);
  CHECK(right.out == text(precision_name, "\n"));

  if (!has_float64()) return;
  // A copy of the program, next to the other precision's library under the name of its own.
  const TempDir folder;
  const fs::path build = HEED_BUILD_DIR;
  const char* own = is_float64 ? "libheedgrad-f64.so" : "libheedgrad.so";
  const char* other = is_float64 ? "libheedgrad.so" : "libheedgrad-f64.so";
  fs::copy_file(build / probe, folder / probe);
  fs::copy_file(build / other, folder / own);
  const ProgramResult wrong =
      run_program((folder / probe).string(), {}, {"LD_LIBRARY_PATH=" + folder.path().string()});
  CHECK(wrong.exit_code == 1);
  CHECK(wrong.out.empty());
  CHECK(wrong.err == text("heedgrad: this program was compiled for heedgrad ", HEED_VERSION, " in ",
                          precision_name, ", but the library that was loaded is heedgrad ",
                          HEED_VERSION, " in ", is_float64 ? "float32" : "float64",
                          "; link the library of the program's precision\n"));
}
