// Names of files that are written.
#include "tools/extras/report/pages/output_file.h"

#include <doctest/doctest.h>

#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

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

TEST_CASE("output: what was written, how large it is, and how to see it") {
  const testing::TempDir folder;
  const fs::path page = folder / "my page.html", graph = folder / "my graph.dot";
  testing::write_text(page, std::string(1234, 'x'));
  testing::write_text(graph, "");
  const std::string url = folder.path().string() + "/my%20page.html";
  CHECK(cli::written(page) ==
        "wrote " + page.string() + " (1.2 kB); open it in a browser: file://" + url);
  CHECK(cli::written(folder / "x/../my page.html").ends_with("file://" + url));
  CHECK(cli::written(graph) == "wrote " + graph.string() +
                                   " (0 B); graphviz draws it: dot -O -Tpng '" + graph.string() +
                                   "'");
}
