// Programs of the build folder as a user runs them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace heed::testing {

// Under the address sanitizer programs need more memory: for its notes, and for what it keeps back.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool address_sanitizer = true;
#elif defined(__has_feature)
inline constexpr bool address_sanitizer = __has_feature(address_sanitizer);
#else
inline constexpr bool address_sanitizer = false;
#endif

struct ProgramResult {
  int exit_code = -1;      // 128 + signal when one ended it
  std::string out;         // standard output
  std::string err;         // standard error
  int64_t peak_bytes = 0;  // of memory at any one time
};

// Runs `program` ("heed", or a path) with these arguments and nothing on standard input, waits for
// its end, and fails the test when it cannot be started. `environment`: "NAME=value" on top of
// this process's own.
ProgramResult run_program(const std::string& program, const std::vector<std::string>& arguments,
                          const std::vector<std::string>& environment = {});

// heed itself, the program of this test's precision.
ProgramResult run_heed(const std::vector<std::string>& arguments,
                       const std::vector<std::string>& environment = {});

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void write_text(const std::filesystem::path& path, const std::string& text);
std::string read_text(const std::filesystem::path& path);

}  // namespace heed::testing
