// LoRA over a whole model, `train.lora`: in the place of each Linear whose path a pattern matches
// comes a LoraLinear (lora_layer.h), whose own parameters are W_query.lora.A and W_query.lora.B;
// all others are frozen.
#pragma once

#include <string>
#include <vector>

#include "layers/linear.h"
#include "tools/extras/fine_tuning/layers/lora_layer.h"
#include "tools/extras/fine_tuning/train/adapter.h"

namespace heed {

class LoraAdapter final : public Adapter {
 public:
  static constexpr const char* help = "adds alpha / rank * B A x to each Linear that is chosen";

  struct Config : LoraLayer::Size {
    std::vector<std::string> targets = {"*W_query", "*W_value"};
    std::vector<std::string> modules_to_save;
    void fields(Fields& f);
  };

  explicit LoraAdapter(Config c) : config_(std::move(c)) {}

  // A Linear within modules_to_save is not adapted, but trained. Throws ConfigError for a pattern
  // that matches no layer, with the nearest one that does.
  void add_to(Module& model) const override;
  void merge_into(Module& model) const override;

 private:
  Config config_;
};
HEED_ADAPTER(LoraAdapter, "lora");

}  // namespace heed
