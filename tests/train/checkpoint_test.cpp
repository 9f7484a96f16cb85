#include "train/checkpoint.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "autograd/error.h"
#include "layers/causal_attention.h"
#include "tests/support/temp_dir.h"
#include "train/safetensors.h"
#include "train/state_dict.h"

namespace fs = std::filesystem;
using namespace heed;
using heed::testing::TempDir;

namespace {

constexpr int64_t any_size = 1 << 20;

class Moments final : public Optimizer {
 public:
  explicit Moments(std::vector<NamedParameter> parameters) : Optimizer(std::move(parameters)) {
    first_ = zeros_like_parameters();
    second_ = zeros_like_parameters();
  }
  std::vector<std::pair<std::string, std::vector<Array>*>> state() override {
    return {{"exp_avg", &first_}, {"exp_avg_sq", &second_}};
  }

 protected:
  void update(size_t, Tensor&, const Array&, double, double) override {}

 private:
  std::vector<Array> first_, second_;
};

// A model with an optimizer, all numbers of which follow from `seed`.
struct Training {
  explicit Training(uint64_t seed, int64_t step = 500)
      : model((manual_seed(seed), CausalAttention::Config{.d_in = 3, .d_out = 2,
                                                          .context_length = 4})),
        optimizer(model.parameters()) {
    Generator numbers(seed);
    for (const auto& [kind, arrays] : optimizer.state()) {
      for (Array& array : *arrays) {
        fill_normal(numbers, {array.mutable_data(), static_cast<size_t>(array.size())});
      }
    }
    optimizer.set_steps(step);
    streams().dropout().random32();
    streams().data().normal();
    state = {.step = step, .tokens = 12345678901 + step, .best_val_loss = 1.0 / 3,
             .streams = streams().state(), .task_position = {3, -1, int64_t{1} << 60},
             .sample_bytes = 77};
  }

  fs::path save(const fs::path& run, int64_t keep = 3) {
    return save_checkpoint(run, model, &optimizer, state, "config-hash", keep);
  }
  void at(int64_t step) {
    state.step = step;
    optimizer.set_steps(step);
  }

  CausalAttention model;
  Moments optimizer;
  TrainingState state;
};

std::string weights_of(const Module& model) { return to_safetensors("w", parameter_views(model)); }

std::string moments_of(Optimizer& optimizer) {
  std::string bytes = std::to_string(optimizer.steps());
  for (const auto& [kind, arrays] : optimizer.state()) {
    for (const Array& array : *arrays) {
      bytes.append(reinterpret_cast<const char*>(array.data()),
                   static_cast<size_t>(array.size()) * sizeof(real));
    }
  }
  return bytes;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

template <class F>
std::string io_error(F&& f) {
  try {
    f();
  } catch (const IoError& error) {
    return error.what();
  }
  return "";
}

// Why a fresh model does not load the checkpoint, without its path; it must not have changed.
std::string refusal(const fs::path& checkpoint) {
  Training fresh(9);
  const std::string weights = weights_of(fresh.model), moments = moments_of(fresh.optimizer);
  const std::string message =
      io_error([&] { load_checkpoint(checkpoint, fresh.model, &fresh.optimizer); });
  CHECK((message.empty() || weights_of(fresh.model) == weights));
  CHECK((message.empty() || moments_of(fresh.optimizer) == moments));
  return message.starts_with(checkpoint.string())
             ? message.substr(checkpoint.string().size())
             : message;
}

void flip(const fs::path& path, size_t at) {
  std::string bytes = read_file(path, any_size);
  bytes.at(at) = static_cast<char>(bytes.at(at) ^ 1);
  write_file_atomically(path, bytes);
}

void truncate(const fs::path& path) { fs::resize_file(path, fs::file_size(path) - 1); }

// Writes the manifest of what is in the folder now: for damage that no checksum can find.
void sign_again(const fs::path& folder) {
  Manifest manifest = read_manifest(folder);
  for (auto& [name, print] : manifest.files) {
    print = fingerprint_file(folder / name);
  }
  write_manifest(folder, manifest);
}

const std::vector<std::string> all_files{"manifest.json", "model.safetensors",
                                         "optimizer.safetensors", "state.json",
                                         "state.safetensors"};

}  // namespace

TEST_CASE("checkpoint: everything comes back bit for bit") {
  TempDir run;
  Training written(1), read(2, 0);
  const fs::path folder = written.save(run.path());
  CHECK(folder == run / "checkpoints" / "step-000500");
  CHECK(names_in(folder) == all_files);
  REQUIRE(weights_of(read.model) != weights_of(written.model));
  const TrainingState state = load_checkpoint(folder, read.model, &read.optimizer);
  CHECK(state == written.state);
  CHECK(state.streams.data.cached_normal.has_value());
  CHECK(weights_of(read.model) == weights_of(written.model));
  CHECK(moments_of(read.optimizer) == moments_of(written.optimizer));

  const Manifest manifest = read_manifest(folder);
  CHECK(manifest.config_hash == "config-hash");
  CHECK(manifest.precision == precision_name);
  CHECK(manifest.version == HEED_VERSION);
  CHECK(manifest.files.size() == 4);
}

TEST_CASE("checkpoint: the same state is the same bytes, and the state is readable") {
  TempDir first, second;
  Training training(1);
  const fs::path a = training.save(first.path()), b = training.save(second.path());
  int compared = 0;
  for (const std::string& name : all_files) {
    CHECK(read_file(a / name, any_size) == read_file(b / name, any_size));
    ++compared;
  }
  CHECK(compared == 5);
  CHECK(read_file(a / "state.json", any_size) ==
        "{\n  \"step\": 500,\n  \"tokens\": 12345679401,\n"
        "  \"best_val_loss\": 0.3333333333333333,\n  \"sample_bytes\": 77,\n"
        "  \"generators\": \"separate\",\n  \"dropout_stream\": \"mcg31\"\n}\n");
  const SafeTensors moments(a / "optimizer.safetensors");
  CHECK(moments.tensors().size() == 7);
  CHECK(moments.at("step").shape.empty());
  CHECK(moments.integers("step") == std::vector<int64_t>{500});
  CHECK(moments.at("exp_avg_sq.W_key.weight").shape == std::vector<int64_t>{2, 3});
}

TEST_CASE("checkpoint: the other choices of a state") {
  TempDir run;
  Training training(1);
  manual_seed(5, Generators::single, DropoutStream::mt19937);
  training.state = {.step = 7, .streams = streams().state()};
  training.optimizer.set_steps(7);
  const fs::path folder = training.save(run.path());
  CHECK(load_checkpoint(folder, training.model, &training.optimizer) == training.state);
  manual_seed(5);
}

TEST_CASE("checkpoint: weights alone") {
  TempDir run;
  Training written(1), read(2);
  const fs::path folder =
      save_checkpoint(run.path(), written.model, nullptr, written.state, "hash", 3);
  CHECK(!fs::exists(folder / "optimizer.safetensors"));
  CHECK(refusal(folder) ==
        ": holds no optimizer state to go on with (checkpoint.optimizer_state was false)");
  CHECK(load_checkpoint(folder, read.model, nullptr) == written.state);
  CHECK(weights_of(read.model) == weights_of(written.model));
}

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
      // White space of the manifest may change; nothing else.
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

  const auto state_refused = [&](const std::string& text) {
    const std::string before = read_file(folder / "state.json", any_size);
    write_file_atomically(folder / "state.json", text);
    sign_again(folder);
    const std::string message = refusal(folder);
    write_file_atomically(folder / "state.json", before);
    sign_again(folder);
    return message;
  };
  CHECK(state_refused("{}").find("/state.json: expected the facts of a training state") == 0);
  CHECK(state_refused("[[").find("/state.json: expected the facts of a training state") == 0);
  const std::string rest =
      ", \"tokens\": 1, \"best_val_loss\": null, \"sample_bytes\": 0, \"generators\": \"separate\", "
      "\"dropout_stream\": \"mcg31\"}";
  CHECK(state_refused("{\"step\": -1" + rest) ==
        "/state.json: expected step to be an integer >= 0");
  CHECK(state_refused("{\"step\": 1.5" + rest) ==
        "/state.json: expected step to be an integer >= 0");
  CHECK(state_refused("{\"step\": 501" + rest) ==
        ": damaged: state.json is of step 501, the manifest of step 500");
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
        text(": trained in ", manifest.precision, ", cannot go on in ", precision_name));
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
  Manifest outside{HEED_VERSION, precision_name, 500, "hash", {{"../x", {}}}};
  write_manifest(folder, outside);
  CHECK(refusal(folder) == "/manifest.json: expected plain file names");
  outside.files = {{"model.safetensors", {}}};
  write_manifest(folder, outside);
  CHECK(refusal(folder) == ": damaged: its manifest lacks state.safetensors");
}

TEST_CASE("checkpoint: the newest good one is found, damaged ones are named") {
  TempDir run;
  Training training(1);
  std::vector<std::string> warnings;
  const auto newest = [&] { return newest_good_checkpoint(run.path(), warnings).filename(); };
  CHECK(io_error(newest) ==
        run.path().string() + ": no checkpoint yet: expected a folder checkpoints/step-*");
  for (const int64_t step : {100, 200, 1000000}) {
    training.at(step);
    training.save(run.path(), 10);
  }
  fs::create_directory(run / "checkpoints/step-9999999");
  fs::create_directory(run / "checkpoints/step-9");
  fs::create_directory(run / "checkpoints/.tmp-1-0");
  fs::remove(run / "checkpoints/step-9999999");
  CHECK(newest() == "step-1000000");
  CHECK(warnings.empty());

  const fs::path damaged = run / "checkpoints/step-1000000/optimizer.safetensors";
  truncate(damaged);
  CHECK(newest() == "step-000200");
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].starts_with(damaged.string() + ": damaged: expected "));
  CHECK(warnings[0].ends_with("; using step-000200"));

  fs::remove(run / "checkpoints/step-000200/manifest.json");
  flip(run / "checkpoints/step-000100/model.safetensors", 300);
  const std::string message = io_error(newest);
  CHECK(message.starts_with(damaged.string() + ": damaged: "));
  CHECK(message.ends_with("; " + run.path().string() + " has no checkpoint that is whole"));
}

TEST_CASE("checkpoint: pruning keeps what it must") {
  TempDir run;
  Training training(1);
  const auto left = [&] { return names_in(run / "checkpoints"); };
  const auto save = [&](int64_t step, int64_t keep) {
    training.at(step);
    training.save(run.path(), keep);
  };
  using Names = std::vector<std::string>;
  for (const int64_t step : {10, 20, 30, 40}) {
    save(step, 2);
  }
  CHECK(left() == Names{"step-000030", "step-000040"});

  fs::create_directories(run / "checkpoints/best");
  fs::create_directories(run / "checkpoints/step-mine");
  save(50, 3);
  CHECK(left() == Names{"best", "step-000030", "step-000040", "step-000050", "step-mine"});

  // One that is damaged does not count, one of a later step was gone back behind.
  fs::remove(run / "checkpoints/step-000040/manifest.json");
  fs::create_directories(run / "checkpoints/step-000070");
  save(60, 2);
  CHECK(left() == Names{"best", "step-000050", "step-000060", "step-mine"});

  // Nothing goes while the newest one is not sound.
  save(80, 9);
  flip(run / "checkpoints/step-000080/model.safetensors", 300);
  prune_checkpoints(run.path(), 80, 1);
  CHECK(left() ==
        Names{"best", "step-000050", "step-000060", "step-000080", "step-mine"});
  save(80, 1);
  CHECK(left() == Names{"best", "step-000080", "step-mine"});
}

TEST_CASE("checkpoint: what other processes left half written goes") {
  TempDir run;
  Training training(1);
  fs::create_directories(run / "checkpoints/.tmp-999999999-0");
  write_file_atomically(run / "checkpoints/.tmp-999999999-0/model.safetensors", "half");
  training.save(run.path());
  CHECK(names_in(run / "checkpoints") == std::vector<std::string>{"step-000500"});
}

TEST_CASE("checkpoint: a RUN is a folder or one of its checkpoints") {
  TempDir run;
  Training training(1);
  std::vector<std::string> warnings;
  training.at(100);
  training.save(run.path());
  training.at(200);
  training.save(run.path());
  const RunArgument newest = resolve_run(run.path(), warnings);
  CHECK(newest.run == run.path());
  CHECK(newest.checkpoint == run / "checkpoints/step-000200");
  CHECK(resolve_run(run.path() / "", warnings).checkpoint == newest.checkpoint);
  const fs::path one = run / "checkpoints/step-000100";
  CHECK(resolve_run(one, warnings).checkpoint == one);
  CHECK(resolve_run(one / "", warnings).run == run.path());
  const fs::path here = fs::current_path();
  fs::current_path(one);
  CHECK(resolve_run(".", warnings).run == run.path());
  fs::current_path(here);
  CHECK(io_error([&] { resolve_run(run / "none", warnings); }) ==
        (run / "none").string() +
            ": expected a run folder, or checkpoints/step-* in one: No such file or directory");
  CHECK(warnings.empty());
}

TEST_CASE("checkpoint: a run folder that is gone") {
  TempDir run;
  Training training(1);
  CHECK(io_error([&] { training.save(run / "gone"); }) ==
        (run / "gone/checkpoints").string() +
            ": cannot make the folder: No such file or directory");
}
