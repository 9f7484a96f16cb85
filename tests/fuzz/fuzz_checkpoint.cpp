// A checkpoint folder, and the metrics beside it, in which one file is not what was written. The
// first byte says which file; the second, whether the manifest is made to fit it again (1), and
// whether the rest of the input is the file (2) or edits of it: offset (2 bytes), new byte.
// What is refused changes nothing; what is loaded is what was saved, unless the manifest was made
// to fit.
#include <map>
#include <vector>

#include "autograd/base/error.h"
#include "autograd/random/fills.h"
#include "autograd/random/streams.h"
#include "layers/linear.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/temp_dir.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/state_dict.h"
#include "train/files/safetensors.h"
#include "train/run/metrics.h"

using namespace heed;
using heed::fuzz::expect;

namespace {

namespace fs = std::filesystem;

constexpr int64_t step = 12;
constexpr int64_t any_size = 1 << 20;

// A model and an optimizer that differ from those of another seed in every number.
struct Training {
  explicit Training(uint64_t seed) {
    manual_seed(seed);
    model = make_layer("linear", ConfigNode::map({{"d_in", 3}, {"d_out", 2}}));
    optimizer = optimizer_registry().make("adamw", model->parameters());
    Generator numbers(seed);
    for (const auto& [kind, arrays] : optimizer->state()) {
      for (Array& array : *arrays) {
        fill_normal(numbers, {array.mutable_data(), static_cast<size_t>(array.size())});
      }
    }
    optimizer->set_steps(step);
  }

  // Every number of it.
  std::string bytes() const {
    std::string all;
    const auto append = [&](const Array& array) {
      all.append(reinterpret_cast<const char*>(array.data()),
                 static_cast<size_t>(array.size()) * sizeof(real));
    };
    for (const NamedParameter& parameter : model->parameters()) append(parameter.tensor.value());
    for (const auto& [kind, arrays] : optimizer->state()) {
      for (const Array& array : *arrays) append(array);
    }
    return all + std::to_string(optimizer->steps());
  }

  std::unique_ptr<Module> model;
  std::unique_ptr<Optimizer> optimizer;
};

// A run with one checkpoint, as it was saved.
struct Saved {
  Saved() {
    Training training(1);
    state = {.step = step,
             .tokens = 3456,
             .best_val_loss = 1.5,
             .streams = streams().state(),
             .task_position = {3, 1},
             .sample_bytes = 7};
    folder = save_checkpoint(run.path(), *training.model, training.optimizer.get(), state,
                             {{"config.yaml", "seed: 1\n"}}, Retention{3});
    fuzz::write(metrics(),
                "step,loss,val_loss,lr,grad_norm,tokens,seconds,bits_per_byte\n"
                "4,2.5,,0.001,1,1152,0.25,\n8,2,2.25,0.001,1,2304,0.5,\n");
    names = {metrics(),
             folder / "manifest.json",
             folder / "model.safetensors",
             folder / "optimizer.safetensors",
             folder / "state.safetensors",
             folder / "config.yaml"};
    for (const fs::path& name : names) files[name] = read_file(name, any_size);
    manifest = read_manifest(folder);
    numbers = training.bytes();
  }
  fs::path metrics() const { return run / "metrics.csv"; }

  testing::TempDir run;
  fs::path folder;
  std::vector<fs::path> names;
  std::map<fs::path, std::string> files;
  Manifest manifest;
  TrainingState state;
  std::string numbers;  // of model and optimizer
};

std::string edited(std::string bytes, fuzz::Input& input) {
  while (input.size() >= 3) {
    const size_t at = input.number();
    bytes[at % bytes.size()] = static_cast<char>(input.byte());
  }
  return bytes;
}

void check_metrics(const Saved& saved) {
  try {
    const std::vector<MetricsRow> rows = read_metrics(saved.metrics());
    MetricsWriter::resume(saved.metrics(), step).write({.step = step + 1});
    const std::vector<MetricsRow> after = read_metrics(saved.metrics());
    const auto kept = std::count_if(rows.begin(), rows.end(),
                                    [](const MetricsRow& row) { return row.step <= step; });
    expect(static_cast<int64_t>(after.size()) == kept + 1, "the rows before, and one more");
  } catch (const IoError& error) {
    expect(std::string(error.what()).starts_with(saved.metrics().string()), "the file at fault");
  }
}

void check_loading(const Saved& saved, bool signed_again) {
  static const std::string before = Training(2).bytes();
  static Training fresh(2);
  try {
    const TrainingState state = load_checkpoint(saved.folder, *fresh.model, fresh.optimizer.get());
    expect(state.step == step && fresh.optimizer->steps() == step - state.left_out,
           "the step of the manifest");
    if (!signed_again) {
      expect(state == saved.state && fresh.bytes() == saved.numbers, "what was saved");
    }
    fresh = Training(2);
  } catch (const IoError& error) {
    expect(std::string(error.what()).find(saved.folder.string()) == 0, "the file at fault");
    expect(fresh.bytes() == before, "nothing to change");
  }
}

// The manifest of a folder whose file of that name is this one: for damage that no checksum finds.
void sign_again(const Saved& saved, const fs::path& name, const std::string& bytes) {
  Manifest manifest = saved.manifest;
  manifest.files.at(name.filename().string()) = fingerprint(as_bytes(bytes));
  write_manifest(saved.folder, manifest);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Saved saved;
  fuzz::Input input(data, size);
  const fs::path& name = saved.names[input.byte() % saved.names.size()];
  const uint8_t how = input.byte();
  const std::string& bytes = saved.files.at(name);
  const std::string damaged = how & 2 ? input.rest() : edited(bytes, input);
  fuzz::write(name, damaged);
  if (name == saved.metrics()) {
    check_metrics(saved);
  } else {
    const bool sign = (how & 1) && name.filename() != "manifest.json";
    if (sign) sign_again(saved, name, damaged);
    check_loading(saved, sign);
    const fs::path manifest = saved.folder / "manifest.json";
    if (sign) fuzz::write(manifest, saved.files.at(manifest));
  }
  fuzz::write(name, bytes);
  return 0;
}
