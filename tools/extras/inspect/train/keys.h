// train.show: what is printed before and after training.
#pragma once

#include <string>
#include <vector>

#include "layers/config/section_keys.h"

namespace heed {

struct ShowKeys {
  std::vector<std::string> show;  // parameters or layers

  void fields(Fields& f) {
    f.optional("show", show,
               "parameters, or layers, to print before and after training: [W_query.weight]")
        .may_change();
  }
};
HEED_KEYS(ShowKeys, "train");

}  // namespace heed
