// The keys of fine-tuning: what training starts from, and which parameters it leaves as they are.
#pragma once

#include <string>
#include <vector>

#include "layers/config/section_keys.h"

namespace heed {

struct FineTuningKeys {
  std::string weights;                      // to start from; "": drawn
  std::string weights_fingerprint;          // of their file
  std::vector<std::string> weights_ignore;  // patterns
  std::vector<std::string> freeze;          // patterns
  Choice lora;                              // what is trained in their place, or none

  void fields(Fields& f) {
    f.optional("weights", weights,
               "to start from: a run, a checkpoint, a safetensors file, a Hugging Face folder")
        .names_file();
    f.optional("weights_fingerprint", weights_fingerprint,
               "size and hash of that file; a run's own config has it and refuses another file");
    f.optional(
        "weights_ignore", weights_ignore,
        "patterns of tensors that may be missing, surplus or of another shape: [out_head.*]");
    f.optional("freeze", freeze, "patterns of parameters that stay as they are: [tok_emb.*]");
    f.section("lora", lora, "adapter",
              "small matrices that are trained instead of the model's own weights, which stay", {},
              true)
        .usually("lora");
  }
  // What is said about weights to start from has no effect without them.
  void check(ConfigErrors& errors, const ConfigNode& at) const {
    for (const char* key : {"weights_ignore", "weights_fingerprint"}) {
      const ConfigNode& node = at.get(key);
      if (weights.empty() && (node.size() > 0 || !node.text().empty())) {
        errors.add(node, "has no effect without train.weights");
      }
    }
  }
};
HEED_KEYS(FineTuningKeys, "train");

struct FullCheckpointKeys {
  bool full = false;  // whether the base of train.lora is kept too

  void fields(Fields& f) {
    f.optional("full", full,
               "true: with train.lora, all weights; false: those that train.weights does not have")
        .may_change(false);
  }
};
HEED_KEYS(FullCheckpointKeys, "checkpoint");

}  // namespace heed
