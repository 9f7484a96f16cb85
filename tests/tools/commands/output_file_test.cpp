// Files that commands write do not replace those that they read, nor those of a run.
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
  if (has_command("forward")) {
    REQUIRE(run_heed({"forward", layer, "--in", in, "--out", (folder / "y").string(),
                      "--save-weights", weights})
                .exit_code == 0);
  }
  fs::create_symlink("text.txt", folder / "link.txt");
  fs::create_hard_link(folder / "in.safetensors", folder / "same.safetensors");
  write_text(folder / "graph.dot", sample_text());
  const std::string step = (folder / "run/checkpoints/step-000012/").string();

  const auto check_refused = [&](std::vector<std::string> words, const std::string& option,
                                 const fs::path& out, const std::string& reason) {
    if (!has_command(words[0])) return;
    const auto contents = [&] { return fs::is_regular_file(out) ? read_text(out) : ""; };
    const std::string before = contents();
    words.insert(words.end(), {option, out.string()});
    const ProgramResult result = run_heed(words);
    CHECK(result.exit_code == 2);
    CHECK(result.err == text("heed ", words[0], ": ", option, " ", out.string(), ": ", reason));
    CHECK(contents() == before);
  };
  const std::string is_data = "is the data, which is read; give another file\n";
  const std::string of_run = "is among the files that a run keeps for itself; give another name\n";
  for (const char* name : {"config.yaml", "metrics.csv", "samples.txt", "log.txt", "report.json"}) {
    check_refused({"report", run}, "--out", folder / "run" / name, of_run);
  }
  for (const char* name : {"report.html", "metrics.csv", "checkpoints/x", "checkpoints"}) {
    check_refused({"probe", run, "heads"}, "--html", folder / "run" / name, of_run);
    check_refused({"explain", run}, "--out", folder / "run" / name, of_run);
    check_refused({"tour"}, "--html", folder / "run" / name, of_run);
  }
  check_refused({"inspect", run, "--attention"}, "--out", step + "maps.svg", of_run);
  check_refused({"train", config}, "--out", folder / "run/checkpoints/step-000099", of_run);
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"tokenizer", "train", "x", "--vocab", "300", "--out", step + "tokenizer.json"},
           {"export", run, step + "exported"}}) {
    if (has_command(words[0])) CHECK(contains(run_heed(words).err, of_run));
  }
  check_refused({"report", run, run}, "--out", folder / "run/report.html", of_run);
  check_refused({"report", run}, "--out", folder / "text.txt", is_data);
  check_refused({"report", run}, "--out", folder / "link.txt", is_data);
  check_refused({"report", run}, "--out", folder / "run/../text.txt", is_data);
  check_refused({"report", run}, "--out", step + "model.safetensors", of_run);
  const std::vector<std::string> forward = {"forward", layer, "--in", in, "--weights", weights};
  check_refused(forward, "--out", layer, "is the config, which is read; give another file\n");
  check_refused(forward, "--out", in, "is --in, which is read; give another file\n");
  check_refused(forward, "--out", folder / "same.safetensors",
                "is --in, which is read; give another file\n");
  check_refused(forward, "--out", weights, "is --weights, which is read; give another file\n");
  check_refused(forward, "--out", folder / "text.txt", is_data);
  std::vector<std::string> saving = forward;
  saving.insert(saving.end(), {"--out", (folder / "y").string()});
  check_refused(saving, "--save-weights", weights,
                "is --weights, which is read; give another file\n");
  check_refused(saving, "--save-weights", step + "model.safetensors", of_run);
  check_refused({"inspect", config, "--set", "data.path=" + (folder / "graph.dot").string()},
                "--graph", folder / "graph.dot", is_data);

  if (has_command("report")) {
    succeeded({"report", run, "--out", (folder / "run/report.html").string()});
  }
}

TEST_CASE("files: an empty name is refused by every command, with its option") {
  for (const auto& [option, words] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"CONFIG", {"validate", ""}},
           {"RUN", {"report", "run", ""}},
           {"DIR", {"export", "run", ""}},
           {"--resume", {"train", "--resume", ""}},
           {"--weights", {"train", "c.yaml", "--weights", ""}},
           {"--out", {"report", "run", "--out", ""}},
           {"--graph", {"inspect", "c.yaml", "--graph", ""}},
           {"--html", {"probe", "run", "heads", "--html", ""}},
           {"--in", {"forward", "c.yaml", "--out", "y", "--in", ""}},
           {"--save-weights",
            {"forward", "c.yaml", "--in", "x", "--out", "y", "--save-weights", ""}},
           {"--tokenizer", {"tokenizer", "show", "a", "--tokenizer", ""}},
           {"--inputs", {"tour", "--inputs", ""}},
           {"--dir", {"new", "layer", "mine", "--dir", ""}}}) {
    if (!has_command(words[0])) continue;
    const ProgramResult refused = run_heed(words);
    CHECK(refused.exit_code == 2);
    CHECK(refused.err == text("heed ", words[0], ": ", option,
                              ": expected the name of a file or folder, got nothing; see heed ",
                              words[0], " --help\n"));
  }
  if (has_command("tokenizer")) {
    CHECK(contains(run_heed({"tokenizer", "train", "", "--vocab", "300", "--out", "none/x"}).err,
                   "expected the name of a file, got nothing"));
  }
}
