// Checks of gradients (tools/extras/checks/train/layer_gradients.h) as expectations of a test.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>

#include "layers/module/registry.h"
#include "tools/extras/checks/train/layer_gradients.h"

namespace heed::testing {

struct CheckCounts {
  int cases = 0;
  int64_t compared = 0;
};

inline void expect_all(const std::vector<LayerCheck>& checks, CheckCounts& counts) {
  CHECK(!checks.empty());
  for (const LayerCheck& check : checks) {
    CHECK_MESSAGE(check.passed,
                  text(check.layer, " {", check.options, "} ", check.input, ": ", check.message));
    CHECK(check.compared > 0);
    ++counts.cases;
    counts.compared += check.compared;
  }
}

// Whether a registered layer chooses another one as its attention: a block or a model of blocks.
inline bool has_attention(const std::string& type) {
  const auto fields = layer_registry().types().find(type)->fields();
  return std::any_of(fields.begin(), fields.end(),
                     [](const FieldInfo& field) { return field.name == "attention"; });
}

// Every option of the registered layers that have an attention, or of all others.
inline CheckCounts expect_gradients_of_types(bool with_attention) {
  CheckCounts all;
  for (const std::string& type : layer_registry().types().names()) {
    if (has_attention(type) != with_attention) continue;
    CAPTURE(type);
    CheckCounts of_type;
    expect_all(check_gradients_of_type(type), of_type);
    CHECK(of_type.cases >= 2);
    all.cases += of_type.cases;
    all.compared += of_type.compared;
  }
  MESSAGE("layer gradient cases: ", all.cases, ", ", all.compared, " elements");
  return all;
}

}  // namespace heed::testing
