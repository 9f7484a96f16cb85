// Extras that this build leaves out (cmake -DHEED_EXTRAS=...), for messages.
#pragma once

#include <string>
#include <vector>

namespace heed {

// A type of a config, or a command of `heed`, that an extra would have had.
struct LeftOut {
  std::string kind;   // "layer", "task", ..., "command"
  std::string name;   // "gru"
  std::string extra;  // "recurrent"
};

// All of them. The build writes this function (tools/cmake/extras.cmake).
const std::vector<LeftOut>& left_out();
extern const char* const why_left_out;  // "which this build leaves out (-DHEED_EXTRAS)"

// What to add to a message that the name is unknown; "" if no extra has it.
std::string belongs_to_extra(const std::string& kind, const std::string& name);

}  // namespace heed
