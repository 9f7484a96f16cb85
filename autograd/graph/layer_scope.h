// The layer in which operations run: named in errors and in pictures of the graph.
#pragma once

#include <utility>

#include "autograd/base/modes.h"

namespace heed {

// While one exists, new nodes of its thread get its path. `path` must outlive these nodes (see
// intern in layers/module/module.h).
class LayerScope {
 public:
  explicit LayerScope(const char* path) : before_(std::exchange(path_, path)) {}
  ~LayerScope() { path_ = before_; }
  LayerScope(const LayerScope&) = delete;
  LayerScope& operator=(const LayerScope&) = delete;

  static const char* current() { return path_; }

 private:
  HEED_ONE_PER_THREAD static inline thread_local const char* path_ = "";
  const char* before_;
};

}  // namespace heed
