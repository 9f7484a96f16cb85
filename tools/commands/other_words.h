// What other tools call commands and options, for messages about a wrong command line.
#pragma once

#include <string>

namespace heed::cli {

// What to write instead of the unknown command `word`: "heed eval"; "" if nothing is known.
std::string command_for(const std::string& word);

// What to write instead of the unknown option `word` of a command that takes --set:
// "--set optimizer.lr=..."; "" if nothing is known.
std::string set_for(const std::string& word);

}  // namespace heed::cli
