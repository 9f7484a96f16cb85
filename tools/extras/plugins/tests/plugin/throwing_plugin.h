// Layers that throw what is no std::exception: one when it is made and, if the variable
// HEED_TEST_THROWS is set, one when it is registered.
#pragma once

#include <cstdlib>

#include "layers/module/registry.h"

namespace heed::testing {

class ThrowsWhenMade final : public Module {
 public:
  static constexpr const char* help = "throws when it is made";
  using Config = NoFields;
  explicit ThrowsWhenMade(const Config&) { throw 42; }

 protected:
  Tensor forward(const Input& in) override { return in.x; }
};

struct HelpThatThrows {
  operator std::string() const {  // NOLINT: read as the text that it stands for
    if (std::getenv("HEED_TEST_THROWS") != nullptr) throw 42;
    return "throws when it is registered";
  }
};

class ThrowsWhenRegistered final : public Module {
 public:
  static constexpr HelpThatThrows help{};
  using Config = NoFields;
  explicit ThrowsWhenRegistered(const Config&) {}

 protected:
  Tensor forward(const Input& in) override { return in.x; }
};

}  // namespace heed::testing

HEED_LAYER(heed::testing::ThrowsWhenMade, "throws_when_made");
HEED_LAYER(heed::testing::ThrowsWhenRegistered, "throws_when_registered");
