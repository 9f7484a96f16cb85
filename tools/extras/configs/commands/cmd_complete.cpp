// heed complete: what may follow on a command line, for the scripts of shells.
#include <cstdio>

#include "layers/text/display.h"
#include "tools/command.h"
#include "tools/extras/configs/candidates.h"

namespace heed::cli {

namespace {

struct CompleteOptions {
  std::vector<std::string> words;
};

void declare(Arguments& arguments, CompleteOptions& o) {
  arguments.positionals("WORD", o.words,
                        "after --, the words that follow heed; the last one is being typed");
}

// A line for each word: the word, a tab, its help. First ":files" or ":folders" where the shell has
// something to add.
int run(const CompleteOptions& o) {
  const Candidates found = candidates(o.words);
  if (found.also != Names::none) {
    std::printf("%s\n", found.also == Names::files ? ":files" : ":folders");
  }
  constexpr size_t longest = 1000;
  for (const Candidate& candidate : found.words) {
    std::printf("%s\t%s\n", printable(candidate.word, longest).c_str(),
                printable(candidate.help, longest).c_str());
  }
  return 0;
}

}  // namespace

Command complete_command() {
  return command<CompleteOptions>("complete", "what may follow on a command line, for shells",
                                  "heed complete -- train qu", declare, run, Group::hidden);
}

}  // namespace heed::cli
