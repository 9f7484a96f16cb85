#include <doctest/doctest.h>

#include "tests/support/broken_files.h"
#include "tests/support/small_training.h"
#include "tests/support/temp_dir.h"
#include "train/checkpoint/checkpoint.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("checkpoint: every damaged byte is found") {
  TempDir run;
  Training training(1);
  const fs::path folder = training.save(run.path());
  int found = 0;
  for (const std::string& name : all_files) {
    CAPTURE(name);
    const std::string bytes = read_file(folder / name, any_size);
    for (size_t at = 0; at < bytes.size(); at += 1 + bytes.size() / 40) {
      flip(folder / name, at);
      const std::string message = refusal(folder);
      // Only the manifest's white space may change.
      const bool blank = name == "manifest.json" && (bytes[at] == ' ' || bytes[at] == '\n');
      CHECK((blank || message.find(name + ": ") != std::string::npos));
      write_file_atomically(folder / name, bytes);
      ++found;
    }
    truncate(folder / name);
    const bool only_line_end = name == "manifest.json";
    CHECK((only_line_end || refusal(folder).starts_with("/" + name + ": damaged: expected ")));
    fs::remove(folder / name);
    CHECK(refusal(folder) == "/" + name + ": cannot open: No such file or directory");
    write_file_atomically(folder / name, bytes);
  }
  CHECK(found > 150);
}

TEST_CASE("checkpoint: files of another checkpoint") {
  TempDir first, second;
  Training one(1), other(2), later(1, 600);
  const fs::path a = one.save(first.path()), b = other.save(second.path());
  fs::copy_file(b / "model.safetensors", a / "model.safetensors",
                fs::copy_options::overwrite_existing);
  CHECK(refusal(a) ==
        "/model.safetensors: damaged: its checksum is not that of the file that was written");
  const fs::path c = later.save(second.path());
  fs::copy_file(c / "manifest.json", b / "manifest.json", fs::copy_options::overwrite_existing);
  CHECK(refusal(b) == ": damaged: its manifest is that of step 600");
}

TEST_CASE("checkpoint: what fits no model is refused, with right checksums too") {
  TempDir run;
  Training training(1);
  const fs::path folder = training.save(run.path());
  const auto refused_with = [&](const std::string& name, std::vector<TensorView> tensors) {
    const std::string before = read_file(folder / name, any_size);
    write_safetensors(folder / name, std::move(tensors));
    sign_again(folder);
    const std::string message = refusal(folder);
    write_file_atomically(folder / name, before);
    sign_again(folder);
    return message;
  };
  const auto weights = parameter_views(training.model);
  auto wrong = weights;
  wrong[0] = view("W_query.weight", Array::zeros({4, 4}));
  CHECK(refused_with("model.safetensors", wrong) ==
        "/model.safetensors: W_query.weight: expected shape (2, 3), got (4, 4)");
  CHECK(refused_with("optimizer.safetensors", weights)
            .find("/optimizer.safetensors: no tensor \"exp_avg.W_query.weight\"") == 0);
  CHECK(refused_with("state.safetensors", weights)
            .find("/state.safetensors: no tensor \"generator.init\"") == 0);
}

TEST_CASE("checkpoint: facts of a state and manifests that cannot be are refused") {
  TempDir run;
  Training training(1);
  const fs::path folder = training.save(run.path());
  // The refusal, without the name of this file.
  const auto refusal_of = [&](const std::string& name) {
    const std::string said = refusal(folder), start = "/" + name + ": ";
    if (said.starts_with(start)) return said.substr(start.size());
    return said.starts_with(": ") ? said.substr(2) : said;
  };
  CHECK(check_broken("checkpoint.txt", [&](const BrokenFile& broken) {
          if (broken.setting == "manifest") {
            write_file_atomically(folder / "manifest.json", broken.content);
            return refusal_of("manifest.json");
          }
          set_facts(folder, broken.content);
          return refusal_of("state.safetensors");
        }) == 20);
}

TEST_CASE("checkpoint: generators that cannot be are refused") {
  TempDir run;
  Training training(1);
  training.state.streams.data.index = 625;
  CHECK(refusal(training.save(run.path())).find("/state.safetensors: ") == 0);
  training.state.streams.data.index = 624;
  training.state.streams.dropout.words.fill(0);
  CHECK(refusal(training.save(run.path())).find("/state.safetensors: ") == 0);
}

TEST_CASE("checkpoint: an optimizer of another step") {
  TempDir run;
  Training training(1);
  training.optimizer.set_steps(499);
  CHECK(refusal(training.save(run.path())) ==
        "/optimizer.safetensors: tensor \"step\": expected 500, got 499");
  training.state.left_out = 1;
  CHECK(refusal(training.save(run.path())) == "");
  training.state.left_out = 2;
  CHECK(refusal(training.save(run.path())) ==
        "/optimizer.safetensors: tensor \"step\": expected 498, got 499");
}

TEST_CASE("checkpoint: the other precision gives its weights, but no run goes on") {
  TempDir run;
  Training training(1);
  const fs::path folder = training.save(run.path());
  Manifest manifest = read_manifest(folder);
  manifest.precision = is_float64 ? "float32" : "float64";
  write_manifest(folder, manifest);
  CHECK(refusal(folder) ==
        text(": trained in ", manifest.precision, ", cannot continue in ", precision_name));
  CHECK(load_checkpoint(folder, training.model, nullptr) == training.state);
}

TEST_CASE("checkpoint: a manifest of other files, or of a time that cannot be") {
  TempDir run;
  Training training(1);
  const fs::path folder = training.save(run.path());
  Manifest outside{HEED_VERSION, precision_name, 500, {{"../x", {}}}};
  write_manifest(folder, outside);
  CHECK(refusal(folder) == "/manifest.json: expected plain file names");
  outside.files = {{"model.safetensors", {}}};
  outside.seconds = -1;
  write_manifest(folder, outside);
  CHECK(refusal(folder) == "/manifest.json: expected seconds to be a number >= 0");
  outside.seconds = 0;
  write_manifest(folder, outside);
  CHECK(refusal(folder) == ": damaged: its manifest lacks state.safetensors");
}
