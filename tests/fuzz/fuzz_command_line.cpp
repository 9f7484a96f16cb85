// Any words, divided by NUL bytes, as the arguments of heed. All are parsed; commands that only
// look are run, in a folder with a small config and its text, and must leave the folder as it was.
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "tests/fuzz/fuzz.h"
#include "tests/support/temp_dir.h"
#include "tools/commands/program.h"

using namespace heed;
using heed::fuzz::expect;

namespace {

namespace fs = std::filesystem;

constexpr const char* config =
    "data: {type: text, path: text.txt, train_fraction: 0.8}\n"
    "model: {type: gpt, context_length: 4, d_model: 4, num_heads: 2, num_layers: 1}\n"
    "train: {steps: 12, batch_size: 2}\n";

// The folder that everything happens in.
class Workplace {
 public:
  Workplace() {
    fuzz::write(folder_ / "c.yaml", config);
    std::string text;
    for (int i = 0; i < 20; ++i) text += "Every effort moves you.\n";
    fuzz::write(folder_ / "text.txt", text);
    expect(chdir(folder_.path().c_str()) == 0, "to get into the folder");
  }
  bool untouched() const {
    return std::distance(fs::directory_iterator(folder_.path()), {}) == 2 &&
           fs::file_size(folder_ / "c.yaml") == std::string(config).size();
  }

 private:
  const testing::TempDir folder_;
};

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words{"heed"};
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\0', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

// Many blocks alike take long and show nothing that one does not: of 10 to 999 the last digit
// counts.
void spare_blocks(std::string& word) {
  constexpr const char* digits = "0123456789";
  const size_t first = word.find_first_of(digits, word.find("num_layers"));
  const size_t end = std::min(word.find_first_not_of(digits, first), word.size());
  if (first < word.size() && (end - first == 2 || end - first == 3)) {
    word.erase(first, end - first - 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Workplace place;
  std::vector<std::string> words = words_of({reinterpret_cast<const char*>(data), size});
  if (words.size() > 1 && words[1] == "train") words.insert(words.begin() + 2, "--dry-run");
  std::vector<char*> arguments;
  for (std::string& word : words) {
    spare_blocks(word);
    arguments.push_back(word.data());
  }
  const cli::Request request = cli::parse(static_cast<int>(arguments.size()), arguments.data());
  if (!request.run) {
    expect(request.exit_code == 0 || request.exit_code == 2, "0, or 2 for a wrong command");
    return 0;
  }
  const std::vector<std::string> looking{"train", "validate", "layers", "schema"};
  if (std::find(looking.begin(), looking.end(), request.command) == looking.end()) return 0;
  const int code = cli::run(request);
  expect(code >= 0 && code <= 2, "0, 1 for a file, or 2 for a wrong config");
  expect(place.untouched(), "the folder as it was");
  return 0;
}
