// What may follow on a command line: commands, options, and values where heed knows some.
#pragma once

#include <string>
#include <vector>

namespace heed::cli {

struct Candidate {
  std::string word;  // the whole word, of which the last one typed is the beginning
  std::string help;  // "" or one line
};

enum class Names { none, files, folders };

struct Candidates {
  std::vector<Candidate> words;
  Names also = Names::none;  // what else fits, which the shell itself completes
};

// `words`: those after `heed`, the last of which is being typed and may be "". Words that are wrong
// are passed over: they have no candidates. Reads the config that the words name; loads no plugin.
Candidates candidates(const std::vector<std::string>& words);

}  // namespace heed::cli
