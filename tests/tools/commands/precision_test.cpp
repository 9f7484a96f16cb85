// Each process has one precision: which program hands over to which, and what is refused.
#include <nlohmann/json.hpp>

#include "tests/support/near.h"
#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

const std::string other_precision = is_float64 ? "float32" : "float64";

Json manifest_of(const fs::path& run) {
  return Json::parse(read_text(run / "checkpoints/step-000002/manifest.json"));
}

std::string dtype_of_weights(const fs::path& run) {
  const std::string file = read_text(run / "checkpoints/step-000002/model.safetensors");
  return file.find("\"F64\"") != std::string::npos ? "F64" : "F32";
}

}  // namespace

TEST_CASE("precision: a config that names one trains in it, with either program") {
  const TempDir folder;
  for (const std::string precision : {"float32", "float64"}) {
    const std::string config =
        write_config(folder, "precision: " + precision + "\n" + small_config);
    const std::string out = (folder / precision).string();
    const ProgramResult run =
        run_heed({"train", config, "--out", out, "--set", "train.steps=2", "--threads", "1"});
    REQUIRE_MESSAGE(run.exit_code == 0, run.err);
    CHECK(run.err.find(" parameters, " + precision + "\n") != std::string::npos);
    CHECK(manifest_of(out)["precision"] == precision);
    CHECK(dtype_of_weights(out) == (precision == "float64" ? "F64" : "F32"));
    const ProgramResult eval = run_heed({"eval", out, "--json"});
    CHECK_MESSAGE(eval.exit_code == 0, eval.err);
    CHECK(Json::parse(eval.out)["step"] == 2);
    CHECK(run_heed({"generate", out, "--tokens", "3"}).exit_code == 0);
    const ProgramResult more = run_heed({"train", "--resume", out, "--set", "train.steps=3"});
    CHECK_MESSAGE(more.exit_code == 0, more.err);
  }
}

TEST_CASE("precision: --set names it too, and without a word it is the program's own") {
  const TempDir folder;
  const std::string config = write_config(folder);
  const std::string set = (folder / "set").string(), own = (folder / "own").string();
  const std::vector<std::string> two_steps = {"--set", "train.steps=2", "--threads", "1"};
  std::vector<std::string> words = {"train", config,  "--out",
                                    set,     "--set", "precision=" + other_precision};
  words.insert(words.end(), two_steps.begin(), two_steps.end());
  REQUIRE(run_heed(words).exit_code == 0);
  CHECK(manifest_of(set)["precision"] == other_precision);
  words = {"train", config, "--out", own};
  words.insert(words.end(), two_steps.begin(), two_steps.end());
  REQUIRE(run_heed(words).exit_code == 0);
  CHECK(manifest_of(own)["precision"] == precision_name);
  CHECK(read_text(folder / "own/config.yaml").find(text("precision: ", precision_name, "\n")) !=
        std::string::npos);
}

TEST_CASE("precision: a run's config without a right one does not start programs in a circle") {
  const TempDir folder;
  const std::string config = write_config(folder), out = (folder / "run").string();
  REQUIRE(run_heed({"train", config, "--out", out, "--set", "train.steps=2"}).exit_code == 0);
  std::string resolved = read_text(folder / "run/config.yaml");
  const std::string line = text("precision: ", precision_name, "\n");
  resolved.replace(resolved.find(line), line.size(), "precision: float16\n");
  write_text(folder / "run/config.yaml", resolved);
  const ProgramResult eval = run_heed({"eval", out});
  CHECK(eval.exit_code == 2);
  CHECK(eval.err.find("precision: expected float32 or float64, got float16") != std::string::npos);
}

TEST_CASE("precision: a program with the library of the other one is refused, both named") {
  const std::string probe = is_float64 ? "precision_probe_f64" : "precision_probe_f32";
  const ProgramResult right = run_program(probe, {});
  CHECK(right.exit_code == 0);
  CHECK(right.out == text(precision_name, "\n"));

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
                          HEED_VERSION, " in ", other_precision,
                          "; link the library of the program's precision\n"));
}
