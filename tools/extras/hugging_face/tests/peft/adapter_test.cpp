// Adapters of peft: tests/golden/hugging_face/*/adapter, made by
// tools/reference/fine_tuning_golden.py.
#include "tools/extras/hugging_face/train/adapter.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "layers/module/registry.h"
#include "tests/support/near.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"
#include "tools/extras/hugging_face/train/folder.h"
#include "tools/extras/hugging_face/train/json.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

fs::path golden_base(const std::string& name) {
  return fs::path(HEED_SOURCE_DIR) / "tests/golden/hugging_face" / name;
}

// The model in a golden folder, with an adapter.
std::unique_ptr<Module> adapted(const std::string& name, const fs::path& adapter) {
  const fs::path folder = golden_base(name);
  ImportedModel imported = model_of_json(read_json(folder / "config.json"), "config.json");
  imported.model.erase("type");
  std::unique_ptr<Module> module = make_layer("gpt", imported.model);
  auto& gpt = dynamic_cast<Gpt&>(*module);
  const FolderWeights weights(weights_file(folder));
  load_weights(*imported.architecture, gpt, weights, [](const std::string&) { return false; });
  merge_adapter_folder(adapter, *imported.architecture, gpt);
  module->train(false);
  return module;
}

constexpr const char* config_name = "adapter_config.json";
constexpr const char* tensors_name = "adapter_model.safetensors";

// An adapter as it is in a golden folder, but for a text of its config.
void copy_config(const std::string& name, const fs::path& to, const std::string& old = "",
                 const std::string& now = "") {
  std::string config = read_text(golden_base(name) / "adapter" / config_name);
  REQUIRE(contains(config, old));
  write_text(to / config_name, config.replace(config.find(old), old.size(), now));
}

// The same for its tensors; `called` returns the name that each gets, "" for one to leave out.
template <class Called>
void copy_tensors(const std::string& name, const fs::path& to, const Called& called) {
  const SafeTensors file(golden_base(name) / "adapter" / tensors_name);
  std::vector<TensorView> views;
  for (const std::string& each : file.names()) {
    if (const std::string now = called(each); !now.empty()) {
      views.push_back(view(now, file.array(each)));
    }
  }
  write_safetensors(to / tensors_name, std::move(views));
}

std::string unchanged(const std::string& name) { return name; }

// What is said of gpt2's adapter with another text in its config; "no error" if it is merged.
std::string error_with(const std::string& old, const std::string& now) {
  const TempDir temp;
  copy_tensors("gpt2", temp.path(), unchanged);
  copy_config("gpt2", temp.path(), old, now);
  return temp.cut_from(error_of([&] { adapted("gpt2", temp.path()); }));
}

bool same_bits(const Array& a, const Array& b) { return std::ranges::equal(a.span(), b.span()); }

Array logits(Module& model) {
  const NoGrad off;
  return model(Ids::from({1, 5}, {1, 6, 0, 3, 3})).value();
}

}  // namespace

TEST_CASE("adapter: merged into its base, it gives peft's logits, in three architectures") {
  for (const char* name : {"gpt2", "gpt_neox", "llama"}) {
    CAPTURE(name);
    const fs::path folder = golden_base(name) / "adapter";
    CHECK(is_adapter(folder));
    CHECK(base_of_adapter(folder).empty());
    const auto model = adapted(name, folder);
    const SafeTensors expected(folder / "expected.safetensors");
    const NoGrad off;
    CHECK(check_near((*model)(expected.ids("ids")).value(), expected.array("y"),
                     is_float64 ? 1e-12 : 2e-5) > 0);
  }
  CHECK(!is_adapter(golden_base("gpt2")));
}

TEST_CASE("adapter: what is no plain LoRA, or of another model, is refused") {
  const std::string config = "adapter_config.json: ";
  CHECK(contains(error_with("\"peft_type\": \"LORA\"", "\"peft_type\": \"IA3\""),
                 config + "peft_type"));
  CHECK(contains(error_with("\"use_dora\": false", "\"use_dora\": true"), config + "use_dora"));
  CHECK(contains(error_with("\"bias\": \"none\"", "\"bias\": \"all\""), config + "bias"));
  CHECK(contains(error_with("\"lora_alpha\": 4", "\"lora_alpha\": \"x\""),
                 config + "lora_alpha: expected a number"));
  CHECK(contains(error_with("\"modules_to_save\": null", "\"modules_to_save\": [\"lm_head\"]"),
                 config + "modules_to_save"));
  CHECK(contains(error_with("\"c_proj\": 3", "\"c_proj|x\": 3"),
                 "alpha_pattern: expected names of adapted layers, of which none is c_proj|x"));
  CHECK(contains(error_with("\"r\": 3", "\"r\": 8"), "B (18, r), r = 8, got (3, 6) and (18, 3)"));
  CHECK(contains(error_with("\"c_proj\": 2", "\"c_proj\": 4"), "r = 4, got (2, 6) and (6, 2)"));
  CHECK(contains(error_with("\"c_proj\": 2", "\"c_proj\": 2, \"c_x\": 3"),
                 "rank_pattern: expected names of adapted layers, of which none is c_x"));
  for (const char* now : {"\"exclude_modules\": [\"mlp.c_proj\"]", "\"layers_to_transform\": [0]",
                          "\"layers_to_transform\": 1"}) {
    const std::string key = text(std::string(now).substr(0, std::string(now).find(':')), ": null");
    CHECK(contains(error_with(key, now),
                   "target_modules, exclude_modules and layers_to_transform "
                   "leave it out"));
  }
  const std::string other = error_of([] { adapted("llama", golden_base("gpt2") / "adapter"); });
  CHECK_MESSAGE(contains(other,
                         "base_model.model.transformer.h.0.attn.c_attn.lora_A.weight: "
                         "belongs to no layer of this llama"),
                other);
}

TEST_CASE("adapter: a start that changes the base, and whatever heed does not know") {
  const std::string config = "adapter_config.json: ", starts = "\"init_lora_weights\": true";
  const auto refused = [&](const std::string& old, const std::string& now, const std::string& key) {
    const std::string said = error_with(old, now);
    CAPTURE(now);
    CHECK_MESSAGE(contains(said, config + key + ": expected"), said);
    CHECK(contains(said, "merge_and_unload()") == (key != "alora_invocation_tokens"));
  };
  for (const char* each : {"pissa", "pissa_niter_4", "olora", "corda", "loftq", "lora_ga"}) {
    refused(starts, text("\"init_lora_weights\": \"", each, "\""), "init_lora_weights");
  }
  for (const char* each : {"false", "\"gaussian\"", "\"orthogonal\"", "\"eva\""}) {
    CHECK(error_with(starts, text("\"init_lora_weights\": ", each)) == "no error");
  }
  for (const char* key :
       {"alora_invocation_tokens", "arrow_config", "corda_config", "kasa_config",
        "layer_replication", "lora_ga_config", "megatron_config", "monteclora_config",
        "target_parameters", "trainable_token_indices", "use_bdlora", "velora_config"}) {
    refused(text("\"", key, "\": null"), text("\"", key, "\": [1]"), key);
  }
  refused("\"loftq_config\": {}", "\"loftq_config\": {\"loftq_bits\": 4}", "loftq_config");
  refused("\"lora_bias\": false", "\"lora_bias\": true", "lora_bias");
  refused("\"use_qalora\": false", "\"use_qalora\": true", "use_qalora");
  refused("\"r\": 3", "\"r\": 3, \"use_warp\": 0.5", "use_warp");
  CHECK(error_with("\"r\": 3", "\"r\": 3, \"a\": null, \"b\": false, \"c\": {}, \"d\": []") ==
        "no error");
}

TEST_CASE("adapter: of two patterns that fit a layer, the first of the file counts") {
  const TempDir temp;
  copy_tensors("gpt2", temp.path(), unchanged);
  const auto with = [&](const std::string& patterns) {
    copy_config("gpt2", temp.path(), "\"c_proj\": 3\n", patterns);
    return logits(*adapted("gpt2", temp.path()));
  };
  const Array three = with("\"c_proj\": 3");
  const Array one_is_seven =
      with("\"h.0.attn.c_proj\": 7, \"mlp.c_proj\": 3, \"h.1.attn.c_proj\": 3");
  CHECK(same_bits(with("\"h.0.attn.c_proj\": 7, \"c_proj\": 3"), one_is_seven));
  CHECK(same_bits(with("\"c_proj\": 3, \"h.0.attn.c_proj\": 7"), three));
  CHECK_FALSE(same_bits(three, one_is_seven));
}

TEST_CASE("adapter: tensors that are not there, and weights that can run code") {
  const TempDir temp;
  const auto said = [&] { return temp.cut_from(error_of([&] { adapted("llama", temp.path()); })); };
  copy_config("llama", temp.path());
  write_text(temp / "adapter_model.bin", "");
  CHECK(contains(said(), "expected adapter_model.safetensors, got adapter_model.bin"));
  CHECK(contains(said(), ".merge_and_unload().save_pretrained(DIR)"));
  copy_tensors("llama", temp.path(), [](const std::string& name) {
    return contains(name, "layers.1.self_attn.v_proj") ? "" : name;
  });
  CHECK(said() == text(tensors_name, ": model.layers.1.self_attn.v_proj: no lora_A and lora_B, ",
                       "though target_modules names it"));
  const auto none = [](const std::string&) { return ""; };
  for (const char* targets : {"\"all-linear\"", "\".*_proj\"", "null"}) {
    CAPTURE(targets);
    const std::string config = read_text(golden_base("llama") / "adapter" / config_name);
    const size_t begin = config.find("[\n    \"down_proj\"");
    const std::string list = config.substr(begin, config.find(']', begin) + 1 - begin);
    copy_config("llama", temp.path(), list, targets);
    copy_tensors("llama", temp.path(), none);
    CHECK(contains(said(), targets == std::string("null")
                               ? "expected lora_A and lora_B of layers, got none"
                               : "model.layers.0.self_attn.q_proj: no lora_A and lora_B"));
  }
  copy_config("llama", temp.path(), "\"layers_to_transform\": null",
              "\"layers_to_transform\": [0]");
  copy_tensors("llama", temp.path(),
               [](const std::string& name) { return contains(name, "layers.1") ? "" : name; });
  CHECK(said() == "no error");
}

TEST_CASE("adapter: target_modules and exclude_modules that are regular expressions") {
  const std::string config = read_text(golden_base("gpt2") / "adapter" / config_name);
  const size_t begin = config.find("\"target_modules\": [");
  const std::string list = config.substr(begin, config.find(']', begin) + 1 - begin);
  const auto said = [&](const std::string& pattern) {
    return error_with(list, "\"target_modules\": \"" + pattern + "\"");
  };
  // Python's re.fullmatch(): the whole name has to match.
  CHECK(said(R"(transformer\\.h\\.\\d+\\..*(c_attn|c_proj))") == "no error");
  CHECK(contains(said(".*"), "c_fc: no lora_A and lora_B, though target_modules names it"));
  CHECK(contains(said("(c_attn|c_proj)"), "h.0.attn.c_attn: has lora_A and lora_B, though"));
  CHECK(contains(said(R"(.*h\\.0\\..*c_(attn|proj))"), "h.1.attn.c_attn: has lora_A and lora_B"));
  CHECK(contains(error_with("\"exclude_modules\": null", "\"exclude_modules\": \".*mlp.*\""),
                 "mlp.c_proj: has lora_A and lora_B, though"));
  // What heed does not know of them is peft's to tell.
  for (const char* more : {".*(?!lm_head)", R"(\\w+)", "h{2}", R"([\\d.]+)", "("}) {
    CAPTURE(more);
    CHECK(said(more) == "no error");
  }
}

// Since 5.14, transformers calls the output layer of a GPT-NeoX lm_head.
TEST_CASE("adapter: the output layer of a GPT-NeoX under both of its names") {
  const TempDir temp;
  copy_config("gpt_neox", temp.path(), "\"target_modules\": [",
              "\"target_modules\": [\n    \"lm_head\",");
  const std::string first = "gpt_neox.layers.0.mlp.dense_h_to_4h";
  const SafeTensors file(golden_base("gpt_neox") / "adapter" / tensors_name);
  const Array plain = logits(*adapted("gpt_neox", golden_base("gpt_neox") / "adapter"));
  std::vector<Array> found;
  for (const std::string name : {"lm_head", "embed_out"}) {
    std::vector<TensorView> views;
    for (const std::string& each : file.names()) views.push_back(view(each, file.array(each)));
    const std::string layer = "base_model.model." + name;
    views.push_back(view(layer + ".lora_A.weight", values(Shape({3, 8}), -1, 1, 1)));
    views.push_back(view(layer + ".lora_B.weight", values(Shape({13, 3}), -1, 1, 2)));
    write_safetensors(temp / tensors_name, std::move(views));
    found.push_back(logits(*adapted("gpt_neox", temp.path())));
  }
  CHECK(same_bits(found[0], found[1]));
  CHECK_FALSE(same_bits(found[0], plain));
}
