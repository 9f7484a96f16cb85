// What the fuzz targets share. Each is one function, LLVMFuzzerTestOneInput: libFuzzer calls it
// with inputs that it makes up, replay.cpp with those of the corpus. An input that any check of a
// target fails on ends the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace heed::fuzz {

// (Clang 14 has these, but no std::source_location.)
inline void expect(bool ok, std::string_view what, const char* file = __builtin_FILE(),
                   int line = __builtin_LINE()) {
  if (!ok) {
    std::fprintf(stderr, "%s:%d: expected %.*s\n", file, line, static_cast<int>(what.size()),
                 what.data());
    std::abort();
  }
}

// An input that is taken apart from its front. Past its end everything is 0.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  size_t size() const { return size_; }
  uint8_t byte() {
    if (size_ == 0) {
      return 0;
    }
    --size_;
    return *data_++;
  }
  size_t number() {  // 16 bits, little-endian
    const size_t low = byte();
    return low | static_cast<size_t>(byte()) << 8;
  }
  std::string rest() {
    std::string text(reinterpret_cast<const char*>(data_), size_);
    size_ = 0;
    return text;
  }

 private:
  const uint8_t* data_;
  size_t size_;
};

// Without the care of write_file_atomically, which would take most of the time.
inline void write(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  expect(file.good(), path.string() + " to be written");
}

}  // namespace heed::fuzz
