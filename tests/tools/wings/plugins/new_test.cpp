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

std::string heed_program() {
  return (fs::path(HEED_BUILD_DIR) / (is_float64 ? "heed-f64" : "heed")).string();
}

// Runs heed new in a folder.
ProgramResult new_in(const fs::path& folder, const std::string& words) {
  return run_program(
      "/bin/sh", {"-c", "cd '" + folder.string() + "' && '" + heed_program() + "' new " + words});
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
    CHECK(contains(result.out, "/build -j$(nproc) && ctest "));
    CHECK(contains(result.out, "two_words_layer.h and two_words.yaml train a model with") ==
          (kind == "op"));
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

TEST_CASE("heed new: inside a project of its own it adds to it") {
  const TempDir folder;
  REQUIRE(new_in(folder.path(), "layer demo").exit_code == 0);
  const fs::path demo = folder / "demo", cmake = demo / "CMakeLists.txt";
  const std::string before = read_text(cmake);
  const ProgramResult task = new_in(demo, "task more");
  REQUIRE_MESSAGE(task.exit_code == 0, task.err);
  CHECK(task.out.starts_with(
      "more.h\nmore.yaml\nmore_test.cpp\n"
      "CMakeLists.txt: they are listed in heedgrad_add_plugin(demo ...) now\n\n"));
  CHECK(contains(task.out, "\n  cmake -S . -B build"));
  CHECK(contains(task.out, " train more.yaml\n"));
  CHECK(read_text(demo / "more.yaml").find("plugins: [build/libdemo.so]") != std::string::npos);
  REQUIRE(new_in(folder.path(), "op third --dir demo").exit_code == 0);
  const std::string call = "heedgrad_add_plugin(demo demo.h TESTS demo_test.cpp CONFIGS demo.yaml)";
  std::string after = before;
  after.replace(before.find(call), call.size(),
                "heedgrad_add_plugin(demo demo.h more.h third.h third_layer.h TESTS demo_test.cpp "
                "more_test.cpp third_test.cpp CONFIGS demo.yaml more.yaml third.yaml)");
  CHECK(read_text(cmake) == after);
  CHECK(new_in(demo, "layer more").err ==
        "heed new: more.h is there already; nothing was written; give another NAME or --dir\n");
  CHECK(read_text(cmake) == after);
}

TEST_CASE("heed new: a full disk leaves nothing of what was written, and names the file") {
  const TempDir folder;
  const auto new_on_full_disk = [&](const fs::path& in, const std::string& words) {
    // 3,072 bytes a file: CMakeLists.txt, the first, fits; the header of a task does not.
    return run_program("/bin/sh", {"-c", "ulimit -f 6; cd '" + in.string() + "' && '" +
                                             heed_program() + "' new " + words});
  };
  const ProgramResult project = new_on_full_disk(folder.path(), "task demo --dir deep/er/");
  CHECK(project.exit_code == 1);
  CHECK(project.out.empty());
  CHECK(project.err == "heed: deep/er/demo.h: cannot write: File too large\n");
  CHECK(files_in(folder.path()).empty());

  REQUIRE(new_in(folder.path(), "layer demo").exit_code == 0);
  const fs::path demo = folder / "demo", cmake = demo / "CMakeLists.txt";
  const std::string large = read_text(cmake) + "# " + std::string(10'000, '-') + "\n";
  write_text(cmake, large);
  const std::vector<std::string> before = files_in(demo);
  const ProgramResult added = new_on_full_disk(demo, "layer more");
  CHECK(added.exit_code == 1);
  CHECK(added.out.empty());
  CHECK(added.err == "heed: CMakeLists.txt: cannot write: File too large\n");
  CHECK(files_in(demo) == before);
  CHECK(read_text(cmake) == large);
}

TEST_CASE("heed new: CMakeLists.txt keeps its permissions") {
  const TempDir folder;
  REQUIRE(new_in(folder.path(), "layer demo").exit_code == 0);
  const fs::path cmake = folder / "demo/CMakeLists.txt";
  fs::permissions(cmake, fs::perms(0660));
  REQUIRE(new_in(folder / "demo", "layer more").exit_code == 0);
  CHECK(contains(read_text(cmake), "more.h"));
  CHECK(fs::status(cmake).permissions() == fs::perms(0660));
}

TEST_CASE("heed new: a project that only CMake can read is left alone") {
  const TempDir folder;
  const fs::path cmake = folder / "CMakeLists.txt";
  for (const char* text : {"heedgrad_add_plugin(a ${headers})\n",
                           "heedgrad_add_plugin(a a.h)\nheedgrad_add_plugin(b b.h)\n"}) {
    write_text(cmake, text);
    const ProgramResult made = new_in(folder.path(), "layer demo");
    CHECK_MESSAGE(made.exit_code == 0, made.err);
    CHECK(contains(made.out,
                   "To build them, add this line to CMakeLists.txt:\n  heedgrad_add_plugin(demo "
                   "demo.h TESTS demo_test.cpp CONFIGS demo.yaml)\n"));
    CHECK(read_text(cmake) == text);
    CHECK(contains(read_text(folder / "demo.yaml"), "plugins: [build/libdemo.so]"));
    for (const char* name : {"demo.h", "demo_test.cpp", "demo.yaml"}) fs::remove(folder / name);
  }
  write_text(cmake, "# heedgrad_add_plugin(a a.h)\nproject(other)\n");
  CHECK(error_of({"layer", "demo", "--dir", folder.path().string()}) ==
        "heed new: " + cmake.string() +
            " is there already, without a heedgrad_add_plugin to add to; nothing was written; "
            "give another NAME or --dir\n");
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
  CHECK(full.err.starts_with("heed: /proc/no: cannot write: "));
}

TEST_CASE("heed new: README.md shows what it says") {
  const TempDir folder;
  const ProgramResult result = new_in(folder.path(), "layer demo");
  REQUIRE_MESSAGE(result.exit_code == 0, result.err);
  // Only the path differs: README.md shows any, an installed heed prints none.
  const auto without_path = [](std::string lines) {
    const size_t option = lines.find(" -DCMAKE_PREFIX_PATH=");
    if (option != std::string::npos) lines.erase(option, lines.find('\n', option) - option);
    return lines;
  };
  const std::string said = without_path(result.out);
  const std::string readme = without_path(read_text(fs::path(HEED_SOURCE_DIR) / "README.md"));
  CHECK_MESSAGE(readme.find("$ heed new layer demo\n" + said + "```\n") != std::string::npos, said);
}
