// The main of a fuzz target where libFuzzer does not provide one: runs the inputs that are given, a
// folder standing for every file in it.
//   fuzz_NAME PATH ...                          each input once
//   fuzz_NAME --mutations N SEED PATH ...       N inputs, each made from one of them at random
// The last one named is at fault: input k of a seed is input 0 of seed + k.
#include <algorithm>
#include <iterator>
#include <random>
#include <vector>

#include "tests/fuzz/fuzz.h"

namespace fs = std::filesystem;

namespace {

constexpr size_t longest = 4096;  // as in run.sh

std::vector<fs::path> files_of(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string bytes_of_input(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  heed::fuzz::expect(file.good() || file.eof(), path.string() + " to be readable");
  return bytes;
}

void run(const std::string& name, const std::string& bytes) {
  std::fprintf(stderr, "%s\n", name.c_str());
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

// One of the inputs after one to eight changes: a byte set, a bit flipped, bytes inserted, removed,
// repeated, or the end of another input in place of its own.
class Mutator {
 public:
  Mutator(const std::vector<std::string>& inputs, uint64_t seed)
      : inputs_(inputs), random_(seed), bytes_(inputs[below(inputs.size())]) {}

  std::string mutated() {
    for (size_t change = 0, count = 1 + below(8); change < count; ++change) change_once();
    bytes_.resize(std::min(bytes_.size(), longest));
    return bytes_;
  }

 private:
  size_t below(size_t count) { return static_cast<size_t>(random_() % count); }
  char any_byte() { return static_cast<char>(random_()); }

  void change_once() {
    const size_t at = below(bytes_.size() + 1),
                 length = below(std::min<size_t>(bytes_.size(), 16) + 1);
    const bool inside = at < bytes_.size();
    switch (below(6)) {
      case 0:
        if (inside) bytes_[at] = any_byte();
        break;
      case 1:
        if (inside) bytes_[at] ^= static_cast<char>(1 << below(8));
        break;
      case 2:
        bytes_.insert(at, 1 + below(4), any_byte());
        break;
      case 3:
        bytes_.erase(at, length);
        break;
      case 4:
        bytes_.insert(below(bytes_.size() + 1), bytes_.substr(at, length));
        break;
      default: {
        const std::string& other = inputs_[below(inputs_.size())];
        bytes_ = bytes_.substr(0, at) + other.substr(below(other.size() + 1));
      }
    }
  }

  const std::vector<std::string>& inputs_;
  std::mt19937_64 random_;
  std::string bytes_;
};

}  // namespace

int main(int count, char** arguments) {
  const bool mutate = count > 3 && std::string(arguments[1]) == "--mutations";
  const uint64_t mutations = mutate ? std::stoull(arguments[2]) : 0;
  const uint64_t seed = mutate ? std::stoull(arguments[3]) : 0;
  // Read first: a target may change the folder it works in.
  std::vector<std::string> names, inputs;
  for (int i = mutate ? 4 : 1; i < count; ++i) {
    for (const fs::path& path : files_of(arguments[i])) {
      names.push_back(path.filename());
      inputs.push_back(bytes_of_input(path));
    }
  }
  for (size_t i = 0; !mutate && i < inputs.size(); ++i) run(names[i], inputs[i]);
  for (uint64_t k = 0; k < mutations && !inputs.empty(); ++k) {
    run("seed " + std::to_string(seed + k), Mutator(inputs, seed + k).mutated());
  }
  std::fprintf(stderr, "%zu inputs\n", mutate ? static_cast<size_t>(mutations) : inputs.size());
  return inputs.empty() ? 1 : 0;
}
