// The door for code that watches operations and backward passes while they run: to take times, to
// look for the first NaN, or to send gradients away before a pass has ended.
#pragma once

#include "autograd/graph/graph.h"

namespace heed {

// While an observer exists, every operation of its thread calls it. A thread may have several. They
// may end in any order.
class GraphObserver {
 public:
  GraphObserver() : next_(first_) { first_ = this; }
  virtual ~GraphObserver();
  GraphObserver(const GraphObserver&) = delete;
  GraphObserver& operator=(const GraphObserver&) = delete;

  // `op` has just computed this value. numbers: the elements of its inputs and of the value.
  virtual void made(const char* /*op*/, const Array& /*value*/, int64_t /*numbers*/) {}

  // A pass begins. Its nodes, leaves among them, in the order in which they run; each pass has a
  // span of its own, valid until it ends.
  virtual void pass_begins(std::span<const NodeRef> /*nodes*/) {}

  // Node k of them, no leaf, has added to the gradients of its inputs. reached: false if no
  // gradient came to it, and its backward was not called.
  virtual void has_run(std::span<const NodeRef> /*nodes*/, size_t /*k*/, bool /*reached*/) {}

  // What follows is a forward pass: the time since the last operation belongs to none.
  virtual void forward_begins() {}

  template <class Tell>
  static void each(Tell&& tell) {
    for (GraphObserver* observer = first_; observer != nullptr; observer = observer->next_) {
      tell(*observer);
    }
  }
  static bool exists() { return first_ != nullptr; }

 private:
  HEED_ONE_PER_THREAD static inline thread_local GraphObserver* first_ = nullptr;
  GraphObserver* next_;
};

}  // namespace heed
