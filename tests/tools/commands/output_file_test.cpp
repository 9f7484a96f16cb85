// Files that commands write do not replace those that they read, nor those of a run.
#include "tools/commands/output_file.h"

#include "tests/support/near.h"
#include "tests/support/training_run.h"
#include "train/files/safetensors.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

TEST_CASE("output: nothing that a command reads, or a run needs, is replaced") {
  const TempDir folder;
  const std::string config = write_config(folder), run = (folder / "run").string();
  REQUIRE(run_heed({"train", config, "--out", run, "--threads", "1"}).exit_code == 0);
  const std::string in = (folder / "in.safetensors").string();
  const std::string layer = (folder / "layer.yaml").string();
  const std::string weights = (folder / "weights.safetensors").string();
  write_safetensors(in, {view("x", Array::full({1, 2}, 1))});
  write_text(layer,
             "data: {type: text, path: text.txt, context_length: 8}\nmodel: {type: linear, d_in: "
             "2, d_out: 2}");
  REQUIRE(run_heed({"forward", layer, "--in", in, "--out", (folder / "y").string(),
                    "--save-weights", weights})
              .exit_code == 0);
  fs::create_symlink("text.txt", folder / "link.txt");
  fs::create_hard_link(folder / "in.safetensors", folder / "same.safetensors");
  write_text(folder / "graph.dot", sample_text());
  const std::string step = (folder / "run/checkpoints/step-000012/").string();

  const auto check_refused = [&](std::vector<std::string> words, const std::string& option,
                                 const fs::path& out, const std::string& reason) {
    const std::string before = fs::exists(out) ? read_text(out) : "";
    words.insert(words.end(), {option, out.string()});
    const ProgramResult result = run_heed(words);
    CHECK(result.exit_code == 2);
    CHECK(result.err == text("heed ", words[0], ": ", option, " ", out.string(), ": ", reason,
                             "; give another file\n"));
    CHECK((fs::exists(out) ? read_text(out) : "") == before);
  };
  const std::string is_data = "is the data, which is read";
  const std::string of_run = "belongs to a run, which needs it";
  for (const char* name : {"config.yaml", "metrics.csv", "samples.txt", "log.txt", "report.json"}) {
    check_refused({"report", run}, "--out", folder / "run" / name, of_run);
  }
  check_refused({"report", run}, "--out", folder / "text.txt", is_data);
  check_refused({"report", run}, "--out", folder / "link.txt", is_data);
  check_refused({"report", run}, "--out", folder / "run/../text.txt", is_data);
  check_refused({"report", run}, "--out", step + "model.safetensors", of_run);
  const std::vector<std::string> forward = {"forward", layer, "--in", in, "--weights", weights};
  check_refused(forward, "--out", layer, "is the config, which is read");
  check_refused(forward, "--out", in, "is --in, which is read");
  check_refused(forward, "--out", folder / "same.safetensors", "is --in, which is read");
  check_refused(forward, "--out", weights, "is --weights, which is read");
  check_refused(forward, "--out", folder / "text.txt", is_data);
  std::vector<std::string> saving = forward;
  saving.insert(saving.end(), {"--out", (folder / "y").string()});
  check_refused(saving, "--save-weights", weights, "is --weights, which is read");
  check_refused(saving, "--save-weights", step + "model.safetensors", of_run);
  check_refused({"inspect", config, "--set", "data.path=" + (folder / "graph.dot").string()},
                "--graph", folder / "graph.dot", is_data);

  CHECK(run_heed({"report", run, "--out", (folder / "run/report.html").string()}).exit_code == 0);
  CHECK(run_heed({"report", run, "--out", ""}).err ==
        "heed report: --out: expected the name of a file, got nothing\n");
  CHECK(run_heed({"inspect", config, "--graph", ""}).err ==
        "heed inspect: --graph: expected the name of a file, got nothing\n");
}

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
