// A dry run walks through a computation without doing it: buffers are address space only, loops and
// matrix products return at once, and what is left is the exact account of shapes, memory and
// arithmetic. The plan before training, `inspect` and the refusal of models that do not fit rest
// on it, for any layer, without a second description of what the layer does.
#pragma once

namespace heed {

namespace detail {
inline bool dry_run_active = false;
}

inline bool dry_run() { return detail::dry_run_active; }

class DryRun {
 public:
  DryRun();
  ~DryRun();
  DryRun(const DryRun&) = delete;
  DryRun& operator=(const DryRun&) = delete;
};

}  // namespace heed
