// Patterns that choose parameters by their names: "tok_emb.*".
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

// The same about a pattern that matches no parameter of the model; "" if it matches one.
std::string mistake_in_pattern(const Module& model, const std::string& pattern);

}  // namespace heed
