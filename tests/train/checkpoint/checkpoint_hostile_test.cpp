#include <doctest/doctest.h>

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

TEST_CASE("checkpoint: facts of a state that cannot be are refused, also where they once were") {
  TempDir run;
  Training training(1);
  const fs::path folder = training.save(run.path());
  for (const bool beside : {false, true}) {
    const std::string file = beside ? "/state.json" : "/state.safetensors";
    const auto state_refused = [&](const std::string& text) {
      set_facts(folder, text, beside);
      return refusal(folder);
    };
    CHECK(state_refused("{}").starts_with(file + ": expected the facts of a training state"));
    CHECK(state_refused("[[").starts_with(file + ": expected the facts of a training state"));
    const std::string rest =
        ", \"tokens\": 1, \"best_val_loss\": null, \"best_step\": null, "
        "\"evaluations_since_best\": 0, \"sample_bytes\": 0, "
        "\"generators\": \"separate\", \"dropout_stream\": \"mcg31\"}";
    CHECK(state_refused("{\"sample_due\": 1, \"step\": 1" + rest)
              .starts_with(file + ": expected the facts of a training state"));
    CHECK(state_refused("{\"step\": -1" + rest) == file + ": expected step to be an integer >= 0");
    CHECK(state_refused("{\"step\": 1.5" + rest) == file + ": expected step to be an integer >= 0");
    for (const char* count : {"1e300", "-1e300", "true", "\"1\"", "18446744073709551615"}) {
      CHECK(state_refused(text("{\"step\": ", count, rest)) ==
            file + ": expected step to be an integer >= 0");
    }
    for (const std::string key : {"tokens", "evaluations_since_best"}) {  // training adds to them
      std::string most = rest;
      const size_t end = most.find(": ", most.find(key)) + 2;
      most.replace(end, 1, "9223372036854775807");
      CHECK(state_refused("{\"step\": 500" + most) ==
            text(file, ": expected ", key, " to be at most 4611686018427387904"));
    }
    CHECK(state_refused("{\"step\": 500" + rest) == "");
    CHECK(state_refused("{\"step\": 501" + rest) ==
          ": damaged: its state is of step 501, the manifest of step 500");
  }
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

TEST_CASE("checkpoint: manifests that are hostile") {
  TempDir run;
  Training training(1);
  const fs::path folder = training.save(run.path());
  const auto with = [&](const std::string& manifest) {
    write_file_atomically(folder / "manifest.json", manifest);
    return refusal(folder);
  };
  const std::string no_json = "/manifest.json: damaged: not the JSON of a manifest";
  CHECK(with("") == no_json);
  CHECK(with("[]") == no_json);
  CHECK(with("{\"format\": 1}") == no_json);
  CHECK(with(std::string(60000, '[')) == "/manifest.json: damaged: nested too deeply");
  CHECK(with(std::string(100000, ' ')) ==
        "/manifest.json: expected at most 65536 bytes, got 100000");
  CHECK(with("{\"format\": 2}") ==
        "/manifest.json: expected format 1, got 2: written by another version of heedgrad");
  Manifest outside{HEED_VERSION, precision_name, 500, {{"../x", {}}}};
  write_manifest(folder, outside);
  CHECK(refusal(folder) == "/manifest.json: expected plain file names");
  outside.files = {{"model.safetensors", {}}};
  outside.seconds = -1;
  write_manifest(folder, outside);
  CHECK(refusal(folder) == "/manifest.json: expected seconds to be a number >= 0");
  outside.seconds = {};
  write_manifest(folder, outside);
  CHECK(refusal(folder) == ": damaged: its manifest lacks state.safetensors");
}
