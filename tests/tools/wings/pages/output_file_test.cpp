// Names of files that are written.
#include "tools/wings/pages/output_file.h"

#include <doctest/doctest.h>

namespace fs = std::filesystem;
using namespace heed;

// The files are not there yet, so their names alone can tell.
TEST_CASE("output: a file that is to be made has one name, however it is written") {
  const fs::path here = fs::current_path();
  for (const fs::path& other : {fs::path("./y.none"), fs::path("x.none/../y.none"), here / "y.none",
                                here / "." / "y.none"}) {
    CAPTURE(other);
    CHECK(cli::same_file("y.none", other));
    CHECK(cli::same_file(other, "y.none"));
  }
  CHECK_FALSE(cli::same_file("y.none", "./z.none"));
  CHECK_FALSE(cli::same_file("y.none", "x.none/y.none"));
}
