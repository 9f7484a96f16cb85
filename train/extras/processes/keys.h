// train.shards, which several processes can share.
#pragma once

#include "layers/config/section_keys.h"
#include "layers/config/values.h"

namespace heed {

struct ShardKeys {
  int64_t shards = 1;  // parts of a step that are summed on their own (train/optim/gradient_sum.h)

  void fields(Fields& f) {
    f.optional(
        "shards", shards, in_range(1, 1'000'000),
        "parts of accumulate that are summed on their own; as many processes can share a step");
  }
  void check(ConfigErrors& errors, const ConfigNode& at) const {
    const int64_t accumulate = whole_number(at.get("accumulate")).value_or(1);
    errors.check_divides(at, "shards", shards, "accumulate", accumulate);
  }
};
HEED_KEYS(ShardKeys, "train");

}  // namespace heed
