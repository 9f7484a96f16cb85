// Adapters of peft: tests/golden/hugging_face/*/adapter, made by
// tools/reference/fine_tuning_golden.py.
#include "train/wings/peft/adapter.h"

#include <doctest/doctest.h>

#include "layers/module/registry.h"
#include "tests/support/near.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"
#include "train/wings/hugging_face/folder.h"
#include "train/wings/hugging_face/json.h"

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

// A copy of gpt2's adapter with another text in its config.
std::string error_with(const std::string& old, const std::string& now) {
  const TempDir temp;
  const fs::path from = golden_base("gpt2") / "adapter";
  fs::copy_file(from / "adapter_model.safetensors", temp / "adapter_model.safetensors");
  std::string config = read_text(from / "adapter_config.json");
  REQUIRE(contains(config, old));
  config.replace(config.find(old), old.size(), now);
  write_text(temp / "adapter_config.json", config);
  return temp.cut_from(error_of([&] { adapted("gpt2", temp.path()); }));
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
                 "alpha_pattern: expected names of layers that are adapted, got c_proj|x"));
  const std::string other = error_of([] { adapted("llama", golden_base("gpt2") / "adapter"); });
  CHECK_MESSAGE(contains(other,
                         "base_model.model.transformer.h.0.attn.c_attn.lora_A.weight: "
                         "belongs to no layer of this llama"),
                other);
}
