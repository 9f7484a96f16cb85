// Parameters that training leaves as they are: `train.freeze`.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "layers/module/module.h"

namespace heed {

// True if a pattern matches the whole name, as POSIX's fnmatch does: "*" any characters, "?" one,
// "[01]" one of these.
bool matches_any(const std::vector<std::string>& patterns, const std::string& name);

// The parameters that a pattern matches by any of their names, by identity, which tied ones share.
std::set<const void*> parameters_matching(const Module& model,
                                          const std::vector<std::string>& patterns);

// "no parameter is called tok_em.*, did you mean tok_emb.*?": about a pattern that matches none.
std::string none_called(const char* what, const std::string& pattern,
                        const std::vector<std::string>& candidates);

// What is wrong with a pattern that matches no parameter of the model, with the nearest name, or,
// if it `freezes`, none that is not frozen already; "" if it matches one.
std::string mistake_in_pattern(const Module& model, const std::string& pattern,
                               bool freezes = false);

// Makes constants of the parameters that a pattern matches; a tied one if any of its names does.
// Throws ConfigError for a pattern that matches nothing, and if no parameter would be left.
void freeze(Module& model, const std::vector<std::string>& patterns);

}  // namespace heed
