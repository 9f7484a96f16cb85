// Any bytes as config.json or as the index of a Hugging Face folder. The first byte chooses.
// Refused, the message names the file; a config that is taken makes a gpt or is refused by its
// fields, and what is written of that is read as the same model.
#include "autograd/base/error.h"
#include "autograd/base/modes.h"
#include "layers/module/registry.h"
#include "tests/fuzz/fuzz.h"
#include "tools/extras/hugging_face/train/json.h"
#include "tools/extras/hugging_face/train/model_config.h"

using namespace heed;
using heed::fuzz::expect;

namespace {

constexpr int64_t most_layers = 20;  // more take time, and show nothing else

void check_model(const ImportedModel& found) {
  ConfigNode options = found.model;
  const std::string& layers = options.get("num_layers").text();
  if (layers.size() > 2 || std::stoll(layers) > most_layers) {
    return;
  }
  options.erase("type");
  std::unique_ptr<Module> made;
  {
    const DryRun dry;
    made = make_layer("gpt", options);
  }
  const auto& model = dynamic_cast<const Gpt&>(*made);
  const std::string wrong = obstacle(*found.architecture, model);
  expect(wrong.empty(), "the architecture to hold its own model, got " + wrong);
  expect(!their_tensors(*found.architecture, model).empty(), "tensors");
  const ConfigNode json = json_of_model(*found.architecture, model, found.model);
  const ConfigNode again = parse_json(json_text(json), "again");
  expect(model_of_json(again, "again").model == model_of_json(json, "json").model,
         "the same model");
  expect(!own_model_of_json(again).is_absent(), "heed's own config to come back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const bool is_index = input.byte() % 2 == 1;
  const std::string text = input.rest();
  try {
    if (is_index) {
      for (const auto& [tensor, file] : parse_weight_map(text, "fuzz")) {
        expect(file.find('/') == std::string::npos && file[0] != '.', "a file of the folder");
      }
      return 0;
    }
    const ConfigNode json = parse_json(text, "fuzz");
    own_model_of_json(json);
    const ImportedModel found = model_of_json(json, "fuzz");
    try {
      check_model(found);
    } catch (const ConfigError&) {  // heads that do not divide the width, say
    }
  } catch (const Error& error) {
    const std::string message = error.what();
    expect(message.starts_with("fuzz"), "the file at fault, got " + message);
    expect(message.find('\n') == std::string::npos, "one line, got " + message);
  }
  return 0;
}
