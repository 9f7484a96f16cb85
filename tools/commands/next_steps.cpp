#include "tools/commands/next_steps.h"

#include "layers/text/display.h"
#include "train/files/files.h"
#include "train/files/number_words.h"

namespace heed::cli {

namespace {

constexpr size_t longest_prompt = 40;  // bytes; for a longer one `heed generate` asks

bool fits_a_line(const std::string& prompt) {
  return !prompt.empty() && prompt.size() <= longest_prompt && printable(prompt) == prompt;
}

}  // namespace

std::vector<std::string> next_steps(const NextSteps& of) {
  const std::string run = shell_word(of.run.string());
  std::vector<std::string> lines;
  if (of.generates) {
    lines.push_back("write      " + of.program + " generate " + run +
                    (fits_a_line(of.prompt) ? " --prompt " + shell_word(of.prompt) : ""));
  }
  std::string look;
  for (const std::string& way : of.looks) {
    look += (look.empty() ? "look       " : ", or ") + way;
  }
  if (!look.empty()) {
    lines.push_back(look);
  }
  std::string resume = "go on      " + of.program + " train --resume " + run;
  for (const std::string& value : of.set) {
    resume += " --set " + shell_word(value);
  }
  lines.push_back(resume);
  return lines;
}

}  // namespace heed::cli
