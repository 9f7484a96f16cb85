#include "train/checkpoint/state.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "autograd/base/error.h"
#include "train/files/safetensors.h"

namespace heed {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr int64_t max_json_bytes = 1 << 16;
constexpr size_t generator_length = GeneratorState::kWords + 1;

// The generators, under the names of their tensors.
template <class State>
auto generators_of(State& streams) {
  return std::array{std::pair{"generator.init", &streams.init},
                    std::pair{"generator.data", &streams.data},
                    std::pair{"generator.dropout", &streams.dropout},
                    std::pair{"generator.sampling", &streams.sampling}};
}

std::string cached_name(const std::string& generator) { return generator + ".cached_normal"; }

// The buffers behind a generator's two tensors.
struct StoredGenerator {
  explicit StoredGenerator(const GeneratorState& state) {
    words.assign(state.words.begin(), state.words.end());
    words.push_back(state.index);
    if (state.cached_normal) {
      cached.push_back(*state.cached_normal);
    }
  }
  std::vector<int64_t> words;
  std::vector<double> cached;
};

Fingerprint write_tensors(const fs::path& path, const TrainingState& state) {
  std::vector<StoredGenerator> stored;
  std::vector<TensorView> tensors;
  const auto generators = generators_of(state.streams);
  stored.reserve(generators.size());
  for (const auto& [name, generator] : generators) {
    const StoredGenerator& parts = stored.emplace_back(*generator);
    tensors.push_back(view(name, std::span<const int64_t>(parts.words)));
    tensors.push_back({cached_name(name),
                       Dtype::F64,
                       {static_cast<int64_t>(parts.cached.size())},
                       std::as_bytes(std::span(parts.cached))});
  }
  tensors.push_back(view("task_position", std::span<const int64_t>(state.task_position)));
  return write_safetensors(path, std::move(tensors));
}

GeneratorState read_generator(const SafeTensors& file, const std::string& name) {
  const std::string cached = cached_name(name);
  require<IoError>(file.at(name).shape == std::vector<int64_t>{generator_length}, file.path(),
                   ": tensor \"", name, "\": expected shape (", generator_length, ",)");
  const TensorInfo& normal = file.at(cached);
  require<IoError>(normal.dtype == Dtype::F64 && normal.shape.size() == 1 && normal.shape[0] <= 1,
                   file.path(), ": tensor \"", cached, "\": expected at most one number of F64");
  const std::vector<int64_t> words = file.integers(name);
  GeneratorState state;
  for (size_t i = 0; i < words.size(); ++i) {
    require<IoError>(std::in_range<uint32_t>(words[i]), file.path(), ": tensor \"", name,
                     "\": expected words of 32 bits (got ", words[i], " at element ", i, ")");
    (i < state.words.size() ? state.words[i] : state.index) = static_cast<uint32_t>(words[i]);
  }
  if (normal.shape[0] == 1) {
    std::memcpy(&state.cached_normal.emplace(), file.bytes(cached).data(), sizeof(double));
  }
  return state;
}

// Throws IoError for states that no generator can have.
void check_streams(const std::string& path, const StreamsState& state) {
  try {
    Streams(0, state.mode, state.dropout_stream).set_state(state);
  } catch (const ConfigError& error) {
    fail<IoError>(path, ": ", error.what());
  }
}

// A count that no run gets to: what a step adds to it does not overflow.
constexpr int64_t most_counted = int64_t{1} << 62;

int64_t integer_at(const Json& facts, const char* key) {
  const Json& count = facts.at(key);
  require<ConfigError>(count.is_number_integer() && count.get<int64_t>() >= 0, "expected ", key,
                       " to be an integer >= 0");
  require<ConfigError>(count.get<int64_t>() <= most_counted, "expected ", key, " to be at most ",
                       most_counted);
  return count.get<int64_t>();
}

// Checkpoints of earlier versions have no "seconds".
std::optional<double> seconds_in(const Json& facts) {
  const auto found = facts.find("seconds");
  if (found == facts.end() || found->is_null()) {
    return std::nullopt;
  }
  const double seconds = found->is_number() ? found->get<double>() : -1;
  require<ConfigError>(std::isfinite(seconds) && seconds >= 0,
                       "expected seconds to be a number >= 0");
  return seconds;
}

void read_facts(const fs::path& path, TrainingState& state) {
  const std::string bytes = read_file(path, max_json_bytes);
  try {
    const Json facts = Json::parse(bytes);
    state.step = integer_at(facts, "step");
    state.tokens = integer_at(facts, "tokens");
    state.sample_bytes = integer_at(facts, "sample_bytes");
    if (!facts.at("best_val_loss").is_null()) {
      state.best_val_loss = facts.at("best_val_loss").get<double>();
    }
    if (!facts.at("best_step").is_null()) {
      state.best_step = integer_at(facts, "best_step");
    }
    state.evaluations_since_best = integer_at(facts, "evaluations_since_best");
    state.streams.mode = generators_from(facts.at("generators").get<std::string>());
    state.streams.dropout_stream =
        dropout_stream_from(facts.at("dropout_stream").get<std::string>());
    state.seconds = seconds_in(facts);
    state.evaluation_due = facts.value("evaluation_due", false);
    state.sample_due = facts.value("sample_due", false);
  } catch (const Json::exception& error) {
    fail<IoError>(path.string(), ": expected the facts of a training state: ", error.what());
  } catch (const ConfigError& error) {
    fail<IoError>(path.string(), ": ", error.what());
  }
}

}  // namespace

std::map<std::string, Fingerprint> write_state(const fs::path& folder, const TrainingState& state) {
  nlohmann::ordered_json facts = {
      {"step", state.step},
      {"tokens", state.tokens},
      {"best_val_loss", state.best_val_loss ? Json(*state.best_val_loss) : Json()},
      {"best_step", state.best_step ? Json(*state.best_step) : Json()},
      {"evaluations_since_best", state.evaluations_since_best},
      {"sample_bytes", state.sample_bytes},
      {"generators", name_of(state.streams.mode)},
      {"dropout_stream", name_of(state.streams.dropout_stream)},
      {"seconds", state.seconds ? Json(*state.seconds) : Json()},
  };
  if (state.evaluation_due) facts["evaluation_due"] = true;
  if (state.sample_due) facts["sample_due"] = true;
  return {{"state.safetensors", write_tensors(folder / "state.safetensors", state)},
          {"state.json", write_file_atomically(folder / "state.json", facts.dump(2) + "\n")}};
}

TrainingState read_state(const fs::path& folder) {
  TrainingState state;
  read_facts(folder / "state.json", state);
  const SafeTensors file(folder / "state.safetensors");
  for (const auto& [name, generator] : generators_of(state.streams)) {
    *generator = read_generator(file, name);
  }
  check_streams(file.path(), state.streams);
  require<IoError>(file.at("task_position").shape.size() == 1, file.path(),
                   ": tensor \"task_position\": expected one axis");
  state.task_position = file.integers("task_position");
  return state;
}

}  // namespace heed
