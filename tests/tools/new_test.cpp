// heed new: what it writes and what it refuses. tests/extension shows that the result builds,
// passes its tests and trains.
#include "tests/support/near.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string error_of(const std::vector<std::string>& words) {
  std::vector<std::string> all{"new"};
  all.insert(all.end(), words.begin(), words.end());
  const ProgramResult result = run_heed(all);
  CHECK(result.exit_code == 2);
  CHECK(result.out.empty());
  return result.err;
}

}  // namespace

TEST_CASE("heed new: the files of each kind, under the name everywhere") {
  const TempDir folder;
  for (const std::string kind : {"layer", "op", "task"}) {
    CAPTURE(kind);
    const fs::path out = folder / kind;
    const ProgramResult result = run_heed({"new", kind, "two_words", "--dir", out.string()});
    REQUIRE_MESSAGE(result.exit_code == 0, result.err);
    std::vector<std::string> names{"CMakeLists.txt", "two_words.h", "two_words.yaml",
                                   "two_words_test.cpp"};
    if (kind == "op") names.insert(names.begin() + 3, "two_words_layer.h");
    CHECK(files_in(out) == names);
    for (const std::string& name : names) {
      const std::string text = read_text(out / name);
      CHECK(text.find("my_" + kind) == std::string::npos);
      CHECK(text.find("two_words") != std::string::npos);
      CHECK(result.out.find((out / name).string()) != std::string::npos);
    }
    const std::string header =
        read_text(out / (kind == "op" ? "two_words_layer.h" : "two_words.h"));
    CHECK(header.find("class TwoWords") != std::string::npos);
    CHECK(header.find("\nHEED_") != std::string::npos);
    CHECK(result.out.find("  cmake -S " + out.string()) != std::string::npos);
  }
}

TEST_CASE("heed new: the commands that it prints are quoted for a shell") {
  const TempDir folder;
  const ProgramResult result =
      run_heed({"new", "layer", "my_own", "--dir", (folder / "we ird").string()});
  REQUIRE_MESSAGE(result.exit_code == 0, result.err);
  const std::string at = "'" + (folder / "we ird").string();
  CHECK(result.out.find("  cmake -S " + at + "' -B " + at + "/build'") != std::string::npos);
  CHECK(result.out.find("train " + at + "/my_own.yaml'\n") != std::string::npos);
}

TEST_CASE("heed new: nothing is ever written over") {
  const TempDir folder;
  const std::string out = folder.path().string();
  write_text(folder / "demo_test.cpp", "mine");
  CHECK(error_of({"layer", "demo", "--dir", out}) ==
        "heed new: " + (folder / "demo_test.cpp").string() +
            " is there already; nothing was written; give another NAME or --dir\n");
  CHECK(files_in(folder.path()) == std::vector<std::string>{"demo_test.cpp"});
  CHECK(read_text(folder / "demo_test.cpp") == "mine");
  CHECK(run_heed({"new", "layer", "other", "--dir", out}).exit_code == 0);
}

TEST_CASE("heed new: kinds and names that cannot be") {
  CHECK(error_of({"layr", "demo"}) ==
        "heed new: expected layer, op or task, got layr, did you mean layer?\n");
  for (const char* name : {"Demo", "2nd", "a-b", "a__b", "_a", "a_", "../demo", "de mo"}) {
    CAPTURE(name);
    CHECK(error_of({"layer", name})
              .starts_with("heed new: expected a NAME in snake_case, \"my_layer\", got "));
    CHECK_FALSE(fs::exists(name));
  }
  CHECK(error_of({"task", "class"}).starts_with("heed new: class means something in C++"));
  CHECK(error_of({"layer", "linear"}) == "heed new: heedgrad has a linear; take another NAME\n");
  const ProgramResult full = run_heed({"new", "op", "demo", "--dir", "/proc/no"});
  CHECK(full.exit_code == 1);
  CHECK(full.err.starts_with("heed: /proc/no: cannot make this folder: "));
}

TEST_CASE("heed new: README.md shows what it says") {
  const TempDir folder;
  const std::string program =
      (fs::path(HEED_BUILD_DIR) / (is_float64 ? "heed-f64" : "heed")).string();
  const ProgramResult result = run_program(
      "/bin/sh", {"-c", "cd '" + folder.path().string() + "' && '" + program + "' new layer demo"});
  REQUIRE_MESSAGE(result.exit_code == 0, result.err);
  std::string said = result.out;
  const size_t option = said.find(" -DCMAKE_PREFIX_PATH=");  // from the build folder too
  if (option != std::string::npos) said.erase(option, said.find('\n', option) - option);
  const std::string readme = read_text(fs::path(HEED_SOURCE_DIR) / "README.md");
  CHECK_MESSAGE(readme.find("$ heed new layer demo\n" + said + "```\n") != std::string::npos, said);
}
