// The main of a fuzz target where libFuzzer does not provide one: runs the inputs that are given, a
// folder standing for every file in it.
#include <algorithm>
#include <iterator>
#include <vector>

#include "tests/fuzz/fuzz.h"

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> files_of(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int count, char** arguments) {
  int inputs = 0;
  for (int i = 1; i < count; ++i) {
    // A target may change the folder it works in.
    for (const fs::path& path : files_of(fs::absolute(arguments[i]))) {
      std::ifstream file(path, std::ios::binary);
      const std::string bytes(std::istreambuf_iterator<char>(file), {});
      heed::fuzz::expect(file.good() || file.eof(), path.string() + " to be readable");
      std::fprintf(stderr, "%s\n", path.filename().c_str());  // the last one named is at fault
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
      ++inputs;
    }
  }
  std::fprintf(stderr, "%d inputs\n", inputs);
  return inputs > 0 ? 0 : 1;
}
