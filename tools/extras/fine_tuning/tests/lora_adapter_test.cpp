// LoRA over models, compared with peft's, which is in tests/golden/fine_tuning (made by
// tools/reference/fine_tuning_golden.py).
#include "tools/extras/fine_tuning/train/lora_adapter.h"

#include <nlohmann/json.hpp>

#include "tests/support/broken_files.h"
#include "tests/support/layer_cases.h"
#include "tests/support/run_program.h"
#include "train/checkpoint/state_dict.h"
#include "train/yaml/yaml.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

const std::string adapted_gpt =
    "{type: gpt, vocab_size: 11, context_length: 9, d_model: 12, num_heads: 3, num_layers: 2";

LoraAdapter adapter_of(const std::string& options) {
  ConfigErrors errors;
  LoraAdapter::Config config;
  read_struct(config_ref(config), parse_config(options, "lora.yaml"), errors, "lora");
  errors.throw_if_any();
  return LoraAdapter(config);
}

Input input_of(const SafeTensors& golden) {
  if (golden.find("in.ids") != nullptr) return Input(golden.ids("in.ids"));
  return Input(Tensor(golden.array("in.x")));
}

}  // namespace

TEST_CASE("lora: outputs and gradients are peft's, and merged weights give the same") {
  const double tolerance = is_float64 ? 1e-12 : 2e-5;
  int models = 0;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(HEED_SOURCE_DIR) / "tests/golden/fine_tuning")) {
    if (entry.path().extension() != ".safetensors") continue;
    CAPTURE(entry.path().string());
    const SafeTensors golden(entry.path());
    const auto model = layer_of(golden.metadata().at("model"));
    const LoraAdapter adapter = adapter_of(golden.metadata().at("lora"));
    adapter.add_to(*model);
    load_parameters(*model, golden, Extra::ignore);
    const Input in = input_of(golden);
    const Tensor y = (*model)(in);
    CHECK(check_near(y.value(), golden.array("y"), tolerance) > 0);
    y.backward(golden.array("dy"));
    int64_t gradients = 0;
    for (const NamedParameter& each : model->parameters()) {
      const bool is_lora = contains(each.name, ".lora.");
      CHECK(each.tensor.requires_grad() == is_lora);
      if (is_lora) {
        ++gradients;
        CHECK(check_near(each.tensor.grad(), golden.array("grad." + each.name), tolerance) > 0);
      }
    }
    CHECK(gradients >= 6);
    adapter.merge_into(*model);
    CHECK(!contains(parameter_lines(*model), "lora"));
    CHECK(check_near((*model)(in).value(), golden.array("y"), tolerance) > 0);
    ++models;
  }
  CHECK(models == 3);
}

TEST_CASE("lora: a model keeps its bits until B is trained, and names what it adds") {
  const auto model = layer_of(adapted_gpt + "}");
  const Ids tokens = ids({2, 5}, {0, 1, 2, 9, 9, 3, 4, 5, 6, 7});
  const Array before = (*model)(tokens).value().clone();
  adapter_of("{rank: 2, targets: ['*.W_query', '*.layers.*'], modules_to_save: [out_head]}")
      .add_to(*model);
  check_same_bits((*model)(tokens).value(), before);
  std::string trained;
  for (const NamedParameter& each : model->parameters()) {
    if (each.tensor.requires_grad()) trained += text(each.name, " ", each.tensor.shape(), "\n");
  }
  const std::string of_block =
      "trf_blocks.0.att.W_query.lora.A (2, 12)\ntrf_blocks.0.att.W_query.lora.B (12, 2)\n"
      "trf_blocks.0.ff.layers.0.lora.A (2, 12)\ntrf_blocks.0.ff.layers.0.lora.B (48, 2)\n"
      "trf_blocks.0.ff.layers.2.lora.A (2, 48)\ntrf_blocks.0.ff.layers.2.lora.B (12, 2)\n";
  std::string second = of_block;
  for (size_t at = 0; (at = second.find("trf_blocks.0", at)) != std::string::npos;) {
    second[at + 11] = '1';
  }
  CHECK(trained == of_block + second + "out_head.weight (11, 12)\n");
}
