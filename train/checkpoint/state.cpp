#include "train/checkpoint/state.h"

#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "autograd/base/rethrow.h"
#include "train/files/run_files.h"
#include "train/files/safetensors.h"

namespace heed {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr const char* facts_key = "state";  // in the metadata
constexpr int64_t max_facts_bytes = 1 << 16;
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

std::string facts_of(const TrainingState& state) {
  nlohmann::ordered_json facts = {
      {"step", state.step},
      {"tokens", state.tokens},
      {"best_val_loss", state.best_val_loss ? Json(*state.best_val_loss) : Json()},
      {"best_step", state.best_step ? Json(*state.best_step) : Json()},
      {"evaluations_since_best", state.evaluations_since_best},
      {"sample_bytes", state.sample_bytes},
      {"generators", name_of(state.streams.mode)},
      {"dropout_stream", name_of(state.streams.dropout_stream)},
  };
  if (state.evaluation_due) facts["evaluation_due"] = true;
  if (state.sample_due) facts["sample_due"] = true;
  if (state.left_out != 0) facts["left_out"] = state.left_out;
  return facts.dump();
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

void read_facts(const std::string& json, TrainingState& state) try {
  require<ConfigError>(std::ssize(json) <= max_facts_bytes, "expected at most ", max_facts_bytes,
                       " bytes of facts, got ", json.size());
  const Json facts = Json::parse(json);
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
  state.streams.dropout_stream = dropout_stream_from(facts.at("dropout_stream").get<std::string>());
  state.evaluation_due = facts.value("evaluation_due", false);
  state.sample_due = facts.value("sample_due", false);
  if (facts.contains("left_out")) state.left_out = integer_at(facts, "left_out");
} catch (const Json::exception& error) {
  fail<ConfigError>("expected the facts of a training state: ", error.what());
}

}  // namespace

Fingerprint write_state(const fs::path& folder, const TrainingState& state) {
  std::vector<TensorView> tensors;
  for (const auto& [name, generator] : generators_of(state.streams)) {
    std::vector<int64_t> words(generator->words.begin(), generator->words.end());
    words.push_back(generator->index);
    tensors.push_back(view(name, std::move(words)));
    const std::optional<double>& normal = generator->cached_normal;
    const std::span<const double> cached(normal ? &*normal : nullptr, normal ? 1 : 0);
    tensors.push_back({cached_name(name), Dtype::F64, {std::ssize(cached)}, std::as_bytes(cached)});
  }
  tensors.push_back(view("task_position", state.task_position));
  return write_safetensors(folder / stored_state, std::move(tensors),
                           {{facts_key, facts_of(state)}});
}

TrainingState read_state(const fs::path& folder) {
  const SafeTensors file(folder / stored_state);
  TrainingState state;
  for (const auto& [name, generator] : generators_of(state.streams)) {
    *generator = read_generator(file, name);
  }
  require<IoError>(file.at("task_position").shape.size() == 1, file.path(),
                   ": tensor \"task_position\": expected one axis");
  state.task_position = file.integers("task_position");
  with_place<ConfigError, IoError>(file.path() + ": ", [&] {
    const auto facts = file.metadata().find(facts_key);
    read_facts(facts == file.metadata().end() ? "" : facts->second, state);
    Streams(0, state.streams.mode, state.streams.dropout_stream).set_state(state.streams);
  });
  return state;
}

}  // namespace heed
