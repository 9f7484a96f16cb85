// The call of heedgrad_add_plugin in a CMakeLists.txt: where it is, and how files are added.
#include "tools/extras/plugins/plugin_project.h"

#include <doctest/doctest.h>

using namespace heed::cli;

namespace {

const PluginFiles files{{"n.h"}, {"n_test.cpp"}, {"n.yaml"}};

std::string with_files(const std::string& cmake) { return PluginProject(cmake).with(files); }

}  // namespace

TEST_CASE("plugin project: files are added behind those of their kind") {
  CHECK(with_files("heedgrad_add_plugin(a a.h TESTS t.cpp CONFIGS a.yaml)") ==
        "heedgrad_add_plugin(a a.h n.h TESTS t.cpp n_test.cpp CONFIGS a.yaml n.yaml)");
  CHECK(with_files("heedgrad_add_plugin (a\n  a.h\n  CONFIGS\n  a.yaml\n)\n# )\n") ==
        "heedgrad_add_plugin (a\n  a.h n.h\n  CONFIGS\n  a.yaml n.yaml TESTS n_test.cpp\n)\n# )\n");
  CHECK(with_files("heedgrad_add_plugin(a TESTS t.cpp)") ==
        "heedgrad_add_plugin(a n.h TESTS t.cpp n_test.cpp CONFIGS n.yaml)");
  CHECK(with_files("heedgrad_add_plugin(a a.h)") ==
        "heedgrad_add_plugin(a a.h n.h TESTS n_test.cpp CONFIGS n.yaml)");
  CHECK(plugin_line("n", files) == "heedgrad_add_plugin(n n.h TESTS n_test.cpp CONFIGS n.yaml)");
}

TEST_CASE("plugin project: comments and texts are no calls, and what only CMake can read stays") {
  const auto plugin = [](const std::string& cmake) { return PluginProject(cmake).plugin(); };
  CHECK(plugin("# heedgrad_add_plugin(no no.h)\nmessage(\"heedgrad_add_plugin(no \\\" x)\")\n"
               "my_heedgrad_add_plugin(no)\nheedgrad_add_plugin(yes yes.h)\n") == "yes");
  CHECK_FALSE(PluginProject("# heedgrad_add_plugin(a a.h)\nproject(a)").calls());
  for (const char* cmake :
       {"heedgrad_add_plugin(a ${files})", "heedgrad_add_plugin(a \"a b.h\")",
        "heedgrad_add_plugin(a a.h # TESTS\n)", "heedgrad_add_plugin(a a.h",
        "heedgrad_add_plugin()", "heedgrad_add_plugin(a a.h)\nheedgrad_add_plugin(b b.h)",
        "#[[\n]]\nheedgrad_add_plugin(a a.h)", "\"\\"}) {
    CAPTURE(cmake);
    CHECK(plugin(cmake) == "");
  }
}
