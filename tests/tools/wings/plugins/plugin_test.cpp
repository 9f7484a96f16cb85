// heed --plugin, and `plugins:` in a config. Added types work like built-in ones. Files that are
// not plugins, or are built for another heedgrad, are refused.
#include "tests/support/near.h"
#include "tests/support/training_run.h"
#include "train/check/adviser.h"
#include "train/files/number_words.h"
#include "train/run/metrics.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

const fs::path plugins = fs::path(HEED_BUILD_DIR) / "tests";
const std::string plugin = (plugins / "libtest_plugin.so").string();
const fs::path own_plugin = plugins / (is_float64 ? "libtest_plugin-f64.so" : "libtest_plugin.so");

const char* const plugin_config = R"(data: {type: plugin_task}
model:
  type: gpt
  d_model: 8
  num_heads: 1
  num_layers: 1
  dropout: 0.1
  attention: {type: plugin_layer}
optimizer: {type: plugin_optimizer, step_size: 0.3}
schedule: {type: plugin_schedule}
train: {steps: 6, batch_size: 3, log_every: 2}
eval: {every: 3}
)";

ProgramResult run_with(std::vector<std::string> words) {
  words.insert(words.begin(), {"--plugin", plugin});
  return run_heed(words);
}

ProgramResult trusting(std::vector<std::string> words) {
  words.insert(words.begin(), "--trust-plugins");
  return run_heed(words);
}

// A copy of this precision's plugin with every `from` replaced by `to`, which must have equal
// length.
fs::path patched(const fs::path& folder, const std::string& from, const std::string& to) {
  std::string bytes = read_text(own_plugin);
  int64_t places = 0;
  for (size_t at = bytes.find(from); at != std::string::npos; at = bytes.find(from, at + 1)) {
    bytes.replace(at, to.size(), to);
    ++places;
  }
  REQUIRE(places > 0);
  const fs::path copy = folder / "libpatched.so";
  write_text(copy, bytes);
  return copy;
}

// With a command that needs no more than the plugin.
std::vector<std::string> and_any(std::vector<std::string> options) {
  static const TempDir folder;
  static const std::string config = write_config(folder);
  options.insert(options.end(), {"validate", config});
  return options;
}

}  // namespace

TEST_CASE("plugin: layers, schema and gradcheck know what it adds") {
  if (!has_command("layers") || !has_command("gradcheck")) return;
  CHECK_FALSE(contains(run_heed({"layers"}).out, "plugin_layer"));
  const ProgramResult all = run_with({"layers"});
  CHECK_MESSAGE(all.exit_code == 0, all.err);
  for (const char* name : {"plugin_layer", "plugin_task", "plugin_optimizer", "plugin_schedule"}) {
    CHECK_MESSAGE(contains(all.out, text("  ", name, " ")), name);
  }
  CHECK(contains(run_with({"layers", "plugin_layer"}).out, "a layer from the test plugin"));
  CHECK(contains(run_with({"schema"}).out, "layer.plugin_layer"));
  const ProgramResult near = run_with({"layers", "plugin_laier"});
  CHECK(near.exit_code == 2);
  CHECK(contains(near.err, "did you mean plugin_layer?"));
  const ProgramResult checked = run_with({"gradcheck", "plugin_layer"});  // always in float64
  CHECK_MESSAGE(checked.exit_code == 0, checked.err);
  CHECK(contains(checked.out, "none failed"));
}

TEST_CASE("plugin: validate, inspect, train, eval and resume with --plugin") {
  const TempDir folder;
  write_text(folder / "c.yaml", plugin_config);
  const std::string file = (folder / "c.yaml").string(), whole = (folder / "whole").string(),
                    parts = (folder / "parts").string();
  const ProgramResult unknown = run_heed({"validate", file});
  CHECK(unknown.exit_code == 2);
  CHECK(contains(unknown.err, "plugin_layer"));
  CHECK(run_with({"validate", file}).exit_code == 0);
  if (has_command("inspect")) {
    CHECK(contains(run_with({"inspect", file}).out, "plugin_layer"));
  }
  const ProgramResult trained = run_with({"train", file, "--out", whole});
  REQUIRE_MESSAGE(trained.exit_code == 0, trained.err);

  // The checkpoint lists its plugins, so whoever trusts them need not name them again.
  REQUIRE(run_with({"train", file, "--out", parts, "--set", "train.steps=3"}).exit_code == 0);
  CHECK(contains(read_text(folder / "parts/checkpoints/step-000003/config.yaml"), plugin));
  const ProgramResult resumed =
      trusting({"train", "--resume", parts, "--set", "train.steps=6", "--threads", "1"});
  REQUIRE_MESSAGE(resumed.exit_code == 0, resumed.err);
  const std::string weights = "checkpoints/step-000006/model.safetensors";
  CHECK(read_text(folder / ("whole/" + weights)) == read_text(folder / ("parts/" + weights)));
  const ProgramResult eval = trusting({"eval", whole, "--json"});
  CHECK_MESSAGE(eval.exit_code == 0, eval.err);
}

TEST_CASE("plugin: an optimizer trains at its own rate, whatever its field is called") {
  const TempDir folder;
  write_text(folder / "c.yaml", plugin_config);
  const std::string file = (folder / "c.yaml").string(), out = (folder / "run").string();
  const ProgramResult trained = run_with({"train", file, "--out", out});
  REQUIRE_MESSAGE(trained.exit_code == 0, trained.err);
  const std::vector<MetricsRow> rows = read_metrics(folder / "run/metrics.csv");
  REQUIRE(rows.size() == 5);  // steps 1, 2, 3, 4 and 6
  for (const MetricsRow& row : rows) {
    CHECK(row.lr.value() == doctest::Approx(0.3 / static_cast<double>(row.step)));
  }
  CHECK(rows.back().loss.value() < rows.front().loss.value());

  const ProgramResult still = run_with({"validate", file, "--set", "optimizer.step_size=0"});
  CHECK_MESSAGE(contains(still.out + still.err, "the optimizer's learning rate is 0"), still.out);
  const ProgramResult rising =
      run_with({"validate", file, "--set", "schedule={type: cosine, min_lr: 0.4}"});
  CHECK(rising.exit_code == 2);
  CHECK(contains(rising.err, "must be at most the optimizer's learning rate 0.3, got 0.4"));
  if (has_command("bench")) {
    const ProgramResult benched =
        run_with({"bench", file, "--steps", "2", "--set", "optimizer.step_size=0.2"});
    CHECK_MESSAGE(benched.exit_code == 0, benched.err);
  }
}

TEST_CASE("plugin: `plugins` of a config is relative to it; a run keeps the absolute path") {
  const TempDir folder;
  fs::create_directory(folder / "lib");
  for (const char* name : {"libtest_plugin.so", "libtest_plugin-f64.so"}) {
    fs::copy_file(plugins / name, folder / "lib" / name);
  }
  write_text(folder / "c.yaml", text("plugins: [lib/libtest_plugin.so]\n", plugin_config));
  const std::string file = (folder / "c.yaml").string(), out = (folder / "run").string();
  const ProgramResult trained = trusting({"train", file, "--out", out});
  REQUIRE_MESSAGE(trained.exit_code == 0, trained.err);
  const std::string path = (folder / "lib/libtest_plugin.so").string();
  CHECK(contains(read_text(folder / "run/config.yaml"), path));
  CHECK(trusting({"eval", out}).exit_code == 0);

  // After the plugin has moved, the run reports it as missing; --plugin gives the new location.
  fs::rename(folder / "lib", folder / "other");
  const ProgramResult missing = trusting({"eval", out});
  CHECK(missing.exit_code == 1);
  CHECK(contains(missing.err, path));
  CHECK(
      contains(missing.err, "build it, or if it has moved: heed --plugin PATH/libtest_plugin.so"));
  CHECK(std::count(missing.err.begin(), missing.err.end(), '\n') == 1);
  const std::string moved = (folder / "other/libtest_plugin.so").string();
  CHECK(run_heed({"--plugin", moved, "eval", out}).exit_code == 0);
  const ProgramResult resumed =
      run_heed({"--plugin", moved, "train", "--resume", out, "--set", "train.steps=7"});
  CHECK_MESSAGE(resumed.exit_code == 0, resumed.err);
  CHECK(contains(read_text(folder / "run/config.yaml"), moved));
  CHECK(trusting({"eval", out}).exit_code == 0);
}

TEST_CASE("plugin: a config with a wrong `plugins`") {
  const TempDir folder;
  const std::string file = (folder / "c.yaml").string();
  write_text(file, text("plugins: libmine.so\n", plugin_config));
  const ProgramResult scalar = run_heed({"validate", file});
  CHECK(scalar.exit_code == 2);
  CHECK(contains(scalar.err, "c.yaml:1:10: plugins: expected a list of texts"));
  for (const char* nothing : {"''", "~"}) {  // with the other mistakes
    write_text(file, text("plugins: [", nothing, "]\nseed: -1\n", plugin_config));
    const ProgramResult empty = run_heed({"validate", file});
    CHECK(empty.exit_code == 2);
    CHECK_MESSAGE(contains(empty.err, nothing == std::string("~")
                                          ? "c.yaml:1:11: plugins.0: missing value, expected text\n"
                                          : "c.yaml:1:11: plugins.0: expected the name of a "
                                            "library, got nothing\n"),
                  empty.err);
    CHECK(contains(empty.err, "c.yaml:2:7: seed: "));
    CHECK(!contains(empty.err, "to allow it"));
  }
  const ProgramResult option = run_heed(and_any({"--plugin", ""}));
  CHECK(option.exit_code == 1);
  CHECK(option.err == "heed: --plugin: expected the name of a library, got nothing\n");
  write_text(file, text("plugins: [no/such.so]\n", plugin_config));
  const ProgramResult missing = trusting({"validate", file});
  CHECK(missing.exit_code == 1);
  CHECK(contains(missing.err, "c.yaml:1:11: plugins.0: "));
  CHECK(contains(missing.err, "no/such.so: "));
}

TEST_CASE("plugin: a file that is missing, none, or no library of heedgrad's") {
  const TempDir folder;
  const ProgramResult missing = run_heed(and_any({"--plugin", "no/such.so"}));
  CHECK(missing.exit_code == 1);
  CHECK(missing.out.empty());
  CHECK(missing.err == "heed: no/such.so: cannot open: No such file or directory\n");
  const std::string words = (folder / "text.so").string();
  write_text(words, "heedgrad plugin|" HEED_VERSION "|float32|libstdc++|");
  const std::string library = is_float64 ? "libheedgrad-f64.so" : "libheedgrad.so";
  for (const std::string& path : {words, (fs::path(HEED_BUILD_DIR) / library).string()}) {
    const ProgramResult other = run_heed(and_any({"--plugin", path}));
    CHECK(other.exit_code == 1);
    CHECK(other.err == text("heed: ", path,
                            ": is not a plugin of heedgrad; heedgrad_add_plugin in ",
                            "CMake builds one\n"));
  }
  const std::string cut = (folder / "cut.so").string();
  write_text(cut, read_text(own_plugin).substr(0, 60000));
  CHECK(run_heed(and_any({"--plugin", cut})).exit_code == 1);
  CHECK(run_heed(and_any({"--plugin", folder.path().string()})).exit_code == 1);
}

TEST_CASE("plugin: one for another version, standard library or precision is refused") {
  const TempDir folder;
  const fs::path old = patched(folder.path(), "|" HEED_VERSION "|", "|0.0.7|");
  const ProgramResult version = run_heed(and_any({"--plugin", old.string()}));
  CHECK(version.exit_code == 1);
  CHECK(version.err == text("heed: ", old.string(), ": was built against heedgrad 0.0.7, this is ",
                            "heedgrad ", HEED_VERSION,
                            "; build the plugin again against this one\n"));
  const fs::path foreign = patched(folder.path(), "|libstdc++|", "|libodd++1|");
  const ProgramResult standard = run_heed(and_any({"--plugin", foreign.string()}));
  CHECK(standard.exit_code == 1);
  CHECK(contains(standard.err,
                 "was built with the standard library libodd++1, this heedgrad with libstdc++"));
  // The build of the other precision only.
  const fs::path alone = folder / "libalone.so";
  fs::copy_file(plugins / (is_float64 ? "libtest_plugin.so" : "libtest_plugin-f64.so"), alone);
  const ProgramResult precision = run_heed(and_any({"--plugin", alone.string()}));
  CHECK(precision.exit_code == 1);
  CHECK(contains(precision.err, text("was built for ", is_float64 ? "float32" : "float64",
                                     ", this process computes in ", precision_name)));
}

TEST_CASE("plugin: a name that is taken, by heedgrad or by another plugin") {
  const TempDir folder;
  const std::string taken = (plugins / "libtaken_plugin.so").string();
  const ProgramResult own = run_heed(and_any({"--plugin", taken}));
  CHECK(own.exit_code == 2);
  CHECK(own.err ==
        "plugin libtaken_plugin.so: the layer name linear is taken by heedgrad itself; "
        "give it another one\n");
  for (const char* name : {"libtest_plugin.so", "libtest_plugin-f64.so"}) {
    fs::copy_file(plugins / name, folder / name);
  }
  const std::string copy = (folder / "libtest_plugin.so").string();
  const ProgramResult other = run_with(and_any({"--plugin", copy}));
  CHECK(other.exit_code == 2);
  CHECK(contains(other.err, "the layer name plugin_layer is taken by libtest_plugin.so"));
  CHECK(run_with(and_any({"--plugin", plugin})).exit_code == 0);  // the same plugin twice
  const ProgramResult sibling =
      run_heed(and_any({"--plugin", (plugins / "libtest_plugin-f64.so").string()}));
  CHECK_MESSAGE(sibling.exit_code == 0, sibling.err);
}

TEST_CASE("plugin: what it throws is reported, whatever it is") {
  const std::string throwing = (plugins / "libthrowing_plugin.so").string();
  if (has_command("gradcheck")) {
    const ProgramResult made = run_heed({"--plugin", throwing, "gradcheck", "throws_when_made"});
    CHECK(made.exit_code == 1);
    CHECK(made.err == "heed: a plugin threw something other than a std::exception\n");
  }
  const ProgramResult registered =
      run_heed(and_any({"--plugin", throwing}), {"HEED_TEST_THROWS=1"});
  CHECK(registered.exit_code == 1);
  CHECK_MESSAGE(registered.err.ends_with(": its registration threw something other than a "
                                         "std::exception\n"),
                registered.err);
}

TEST_CASE("plugin: parameters without a gradient are named, and refused by --strict") {
  if (adviser_registry().types().names().empty()) return;  // the wing examine looks for them
  const TempDir folder;
  write_text(folder / "c.yaml", plugin_config);
  const std::string file = (folder / "c.yaml").string();
  const std::string warning =
      "4 of the parameters get no gradient and stay as drawn: trf_blocks.0.att.scale, "
      "trf_blocks.1.att.scale, trf_blocks.2.att.scale, ...\n";
  std::vector<std::string> words = {"validate", file,
                                    "--set",    "model.num_layers=4",
                                    "--set",    "model.attention={type: plugin_unused}"};
  const ProgramResult plain = run_with(words);
  CHECK_MESSAGE(plain.exit_code == 0, plain.err);
  CHECK_MESSAGE(contains(plain.out, "warning    " + warning), plain.out);
  words.emplace_back("--strict");
  const ProgramResult strict = run_with(words);
  CHECK(strict.exit_code == 2);
  CHECK(strict.err == "--strict: " + warning);
  words[0] = "train";
  words.insert(words.end(), {"--out", (folder / "run").string()});
  const ProgramResult train = run_with(words);
  CHECK(train.exit_code == 2);
  CHECK(train.err == "--strict: " + warning);
  CHECK(!fs::exists(folder / "run"));
  CHECK(run_with({"validate", file, "--strict"}).exit_code == 0);
}

TEST_CASE("plugin: the build of one precision suffices for a config of that precision") {
  for (const bool twice : {false, true}) {
    const TempDir folder;
    const char* const name = twice ? "libtest_plugin-f64.so" : "libtest_plugin.so";
    fs::copy_file(plugins / name, folder / name);
    const std::string file = (folder / "c.yaml").string(), given = (folder / name).string();
    write_text(file, text("precision: ", twice ? "float64\n" : "float32\n", plugin_config));
    const ProgramResult fits = run_heed({"--plugin", given, "validate", file});
    CHECK_MESSAGE(fits.exit_code == 0, fits.err);
    const std::string other = twice ? "precision=float32" : "precision=float64";
    const ProgramResult misfit = run_heed({"--plugin", given, "validate", file, "--set", other});
    CHECK(misfit.exit_code == 1);
    CHECK_MESSAGE(contains(misfit.err, given + ": was built for "), misfit.err);
  }
}

TEST_CASE("plugin: a run that goes on with another file of a plugin says so") {
  const TempDir folder;
  const std::string file = (folder / own_plugin.filename()).string();
  fs::copy_file(own_plugin, file);
  write_text(folder / "c.yaml", plugin_config);
  const std::string run = (folder / "run").string();
  const auto heed = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"--plugin", file, "train"});
    const ProgramResult result = run_heed(words);
    CHECK_MESSAGE(result.exit_code == 0, result.err);
    return result.err;
  };
  const std::string says = "plugin libtest_plugin.so: xxh64:";
  heed({(folder / "c.yaml").string(), "--out", run});
  CHECK(!contains(heed({"--resume", run, "--set", "train.steps=8"}), says));
  write_text(file, read_text(file) + "built anew");
  const std::string rebuilt = heed({"--resume", run, "--set", "train.steps=10"});
  CHECK_MESSAGE(contains(rebuilt, says), rebuilt);
  CHECK(contains(rebuilt, " until step 8, xxh64:"));
  CHECK(contains(read_text(folder / "run/log.txt"), says));
  CHECK(!contains(heed({"--resume", run, "--set", "train.steps=12"}), says));
}

TEST_CASE("plugin: the command that continues a run names its plugins") {
  const TempDir folder;
  write_text(folder / "c.yaml", plugin_config);
  const std::string run = (folder / "run").string();
  const ProgramResult part =
      run_with({"train", (folder / "c.yaml").string(), "--out", run, "--max-seconds", "1e-9"});
  CHECK(part.exit_code == 0);
  const std::string go_on =
      "heed --plugin " + shell_word(plugin) + " train --resume " + shell_word(run);
  CHECK_MESSAGE(part.err.ends_with("saved; go on with\n  " + go_on + "\n"), part.err);
}
