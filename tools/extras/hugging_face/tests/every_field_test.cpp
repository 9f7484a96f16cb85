// A gpt that is exported is the same function in transformers, or is not exported: every field of
// every layer that a gpt is made of, each in turn.
#include <doctest/doctest.h>

#include "layers/packed_attention.h"
#include "tests/support/layer_cases.h"
#include "tests/support/temp_dir.h"
#include "tools/extras/checks/layers/variants.h"
#include "tools/extras/hugging_face/train/export.h"
#include "tools/extras/hugging_face/train/folder.h"
#include "tools/extras/hugging_face/train/json.h"
#include "train/yaml/yaml.h"

using namespace heed;
using namespace heed::testing;

namespace {

const std::vector<std::string> models = {
    "{activation: relu}",
    "{position: sinusoidal, bias: false}",
    "{position: rope, rope_base: 100, qkv_bias: true}",
    "{position: rope, rotary_fraction: 0.5, parallel_residual: true}",
    "{position: rope, norm: rms_norm, activation: swiglu, tie_embeddings: true}",
    "{position: rope, norm: rms_norm, activation: swiglu, bias: false, head_dim: 6, attention: "
    "{qk_norm: rms_norm}}"};

ConfigNode parsed(const std::string& yaml) { return parse_config(yaml, "test.yaml"); }

// Values for the fields whose declaration has none to try.
const ConfigNode more_values = parsed(
    "{vocab_size: 8, context_length: 5, d_model: 12, num_heads: 4, num_layers: 1, norm_eps: 0.3, "
    "hidden_multiplier: 3, rope_base: 3, d_in: 12, d_out: 12, head_dim: 6, sinks: 1, "
    "rotary_fraction: 0.5, "
    "rope_scaling: {factor: 8, original_max_position_embeddings: 16}}");

// Every value that the fields of a config are to be tried with.
template <class Config>
std::vector<std::pair<std::string, ConfigNode>> values_to_try() {
  std::vector<std::pair<std::string, ConfigNode>> values;
  for (FieldInfo info : list_fields<Config>()) {
    if (info.type == FieldType::part) {
      continue;  // the attention, whose fields follow
    }
    info.required = true;
    size_t before = values.size();
    for (const ConfigNode& variant : option_variants({info})) {
      const ConfigNode& value = variant.get(info.name);
      if (value != info.value) values.emplace_back(info.name, value);
    }
    if (more_values.has(info.name)) {
      values.emplace_back(info.name, more_values.get(info.name));
    }
    CHECK_MESSAGE(values.size() > before, "no value to try for ", info.name,
                  ": say what the export does with it");
  }
  return values;
}

std::unique_ptr<Module> random_gpt(ConfigNode options) {
  options.erase("type");
  auto model = make_layer("gpt", options);
  uint64_t seed = 1;
  for (const NamedParameter& each : model->parameters()) {
    set_parameter(*model, each.name, values(each.tensor.shape(), -1, 1, seed++));
  }
  model->train(false);
  return model;
}

// Exports the model, reads it again without heed's own config and compares the logits. Returns
// false if it is refused, by a message that names `field`, or another one if this one chooses the
// architecture.
bool is_written(const ConfigNode& options, const std::string& field) {
  const auto model = random_gpt(options);
  const auto& gpt = dynamic_cast<const Gpt&>(*model);
  const Architecture& architecture = architecture_of(gpt.config);
  if (const std::string wrong = export_obstacle(architecture, gpt); !wrong.empty()) {
    const bool chooses =
        field == "position" || field == "norm" || field == "activation" || field == "qk_norm";
    CHECK_MESSAGE(wrong.find(chooses ? "model." : field) != std::string::npos, field, ": ", wrong);
    return false;
  }
  const TempDir folder;
  write_hugging_face(folder.path(), {gpt, ConfigNode::map(), nullptr, Dtype::F32});
  const SafeTensors written(folder / "model.safetensors");
  for (const TensorInfo& tensor : written.tensors()) {
    CHECK(tensor.dtype == Dtype::F32);  // in float64 too
  }
  ConfigNode json = read_json(folder / "config.json");
  json.erase("heedgrad");
  const auto read = random_gpt(model_of_json(json, "config.json").model);
  const FolderWeights weights(weights_file(folder.path()));
  const auto none = [](const std::string&) { return false; };
  check_weights(architecture, dynamic_cast<const Gpt&>(*read), weights, none);
  load_weights(architecture, dynamic_cast<Gpt&>(*read), weights, none);
  const NoGrad off;
  const Ids ids = Ids::from({1, 5}, {1, 6, 0, 3, 3});
  check_near((*read)(ids).value(), (*model)(ids).value(), 2e-5);
  return true;
}

struct Count {
  int64_t written = 0, refused = 0;
};

void try_field(const std::string& base, const std::string& attention, const std::string& field,
               const ConfigNode& value, Count& count) {
  ConfigNode model = parsed(base);
  for (const auto& [name, usual] : {std::pair{"vocab_size", 7},
                                    {"context_length", 6},
                                    {"d_model", 8},
                                    {"num_heads", 2},
                                    {"num_layers", 2}}) {
    model.set(name, usual);
  }
  if (attention.empty()) {
    model.set(field, value);
  } else {
    model.set("attention", ConfigNode::map({{"type", attention}, {field, value}}));
  }
  CAPTURE(to_yaml(model));
  try {
    is_written(model, field) ? ++count.written : ++count.refused;
  } catch (const ConfigError&) {  // not together with the rest of this model
  }
}

}  // namespace

TEST_CASE("export: every field of a gpt is written, or refused by its name") {
  Count count;
  for (const std::string& base : models) {
    for (const auto& [field, value] : values_to_try<Gpt::Config>()) {
      try_field(base, "", field, value, count);
    }
    for (const auto& [field, value] : values_to_try<MultiHeadAttention::Config>()) {
      try_field(base, "multi_head_attention", field, value, count);
    }
    for (const auto& [field, value] : values_to_try<PackedAttention::Config>()) {
      try_field(base, "packed_attention", field, value, count);
    }
  }
  CHECK(count.written > 100);
  CHECK(count.refused > 20);
}

TEST_CASE("export: a scale is written where the architecture has a word for it") {
  const auto refused = [](const std::string& options) {
    ConfigNode model = parsed("{vocab_size: 7, context_length: 6, num_layers: 1, " + options + "}");
    const auto random = make_layer("gpt", model);
    const auto& gpt = dynamic_cast<const Gpt&>(*random);
    return export_obstacle(architecture_of(gpt.config), gpt);
  };
  const auto scale = [](const std::string& value) {
    return "d_model: 8, num_heads: 2, attention: {type: multi_head_attention, scale: " + value +
           "}";
  };
  CHECK(refused(scale("auto")) == "");
  CHECK(refused(scale("1")) == "");
  CHECK(refused(scale("0.5")) == "");  // 1 / sqrt(4)
  CHECK(refused(scale("0.25")) == "model.attention.scale: 0.25, but gpt2 has auto");
  CHECK(refused(scale("0")) == "model.attention.scale: 0, but gpt2 has auto");
  CHECK(refused(scale("1") + ", position: rope") ==
        "model.attention.scale: 1, but gpt_neox has auto");
  CHECK(refused("d_model: 16, num_heads: 2, attention: {type: packed_attention, "
                "scale: 0.35355339059327373}") == "");
}

TEST_CASE("export: no architecture has other attention from block to block") {
  const auto model = random_gpt(
      parsed("{vocab_size: 7, context_length: 6, d_model: 8, num_heads: 2, num_layers: 2, "
             "attention: [{type: multi_head_attention}, {type: packed_attention}]}"));
  const auto& gpt = dynamic_cast<const Gpt&>(*model);
  CHECK(export_obstacle(architecture_of(gpt.config), gpt) ==
        "model.attention: a list of 2, but gpt2 has the same in every block");
}

TEST_CASE(
    "export: a gated feed-forward is a llama's, and rotary positions are those of attention") {
  const std::string llama = "{position: rope, norm: rms_norm, ";
  const auto written = [](const std::string& yaml, const std::string& field) {
    ConfigNode model = parsed(yaml);
    for (const char* size : {"vocab_size", "context_length", "d_model"}) {
      model.set(size, 8);
    }
    model.set("num_heads", 2);
    model.set("num_layers", 2);
    return is_written(model, field);
  };
  const std::string gated = "feed_forward: {type: gated_feed_forward, ff_width: 6}}";
  CHECK(written(llama + gated, ""));
  CHECK(written(llama + "bias: false, " + gated, ""));
  CHECK_FALSE(written("{" + gated, "model.feed_forward: gated_feed_forward, but gpt2 has no gate"));
  CHECK(written("{position: rope, attention: {type: multi_head_attention, rope_base: 500}}", ""));
}
