// Models and their attention maps.
#pragma once

#include <doctest/doctest.h>

#include "autograd/random/streams.h"
#include "tests/support/near.h"
#include "tests/support/training_run.h"
#include "tools/extras/report/pages/attention_maps.h"

namespace heed::testing {

struct Looked {
  LoadedRun loaded;
  std::unique_ptr<Module> model;
};

inline Looked untrained(const std::string& config) {
  Looked made{
      load_run(parse_config(config + "\ntrain: {steps: 1, batch_size: 2}\n", "c.yaml"), "."),
      nullptr};
  apply_settings(made.loaded.config);
  made.model = make_layer(made.loaded.config.model);
  return made;
}

inline Exhibit exhibit_of(const Looked& run) {
  return exhibit(*run.model, *run.loaded.task, run.loaded.config);
}

inline std::vector<AttentionMap> maps_of(const Looked& run, const Input& shown) {
  return attention_maps(*run.model, *run.loaded.task, shown);
}

// Checks that every row is a distribution, and that each row and column has a name.
inline int64_t check_map(const AttentionMap& map) {
  CHECK(static_cast<int64_t>(map.queries.size()) == map.weights.dim(1));
  CHECK(static_cast<int64_t>(map.keys.size()) == map.weights.dim(2));
  const int64_t rows = map.weights.dim(0) * map.weights.dim(1);
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (int64_t s = 0; s < map.weights.dim(2); ++s) {
      sum += static_cast<double>(map.weights.data()[r * map.weights.dim(2) + s]);
    }
    CHECK(sum == doctest::Approx(1).epsilon(1e-5));
  }
  return rows;
}

}  // namespace heed::testing
