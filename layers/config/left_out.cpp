#include "layers/config/left_out.h"

#include <algorithm>

namespace heed {

std::string belongs_to_extra(const std::string& kind, const std::string& name) {
  const auto found = std::find_if(left_out().begin(), left_out().end(), [&](const LeftOut& other) {
    return other.kind == kind && other.name == name;
  });
  return found == left_out().end()
             ? ""
             : "; it belongs to the extra " + found->extra + ", " + why_left_out;
}

}  // namespace heed
