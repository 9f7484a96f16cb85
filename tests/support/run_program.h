// Runs programs of the build folder as a user does.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace heed::testing {

// True under AddressSanitizer. Programs then need more memory, for its shadow memory and for freed
// blocks that it keeps in quarantine.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool address_sanitizer = true;
#elif defined(__has_feature)
inline constexpr bool address_sanitizer = __has_feature(address_sanitizer);
#else
inline constexpr bool address_sanitizer = false;
#endif

struct ProgramResult {
  int exit_code = -1;      // 128 + signal if a signal ended it
  std::string out;         // standard output
  std::string err;         // standard error
  int64_t peak_bytes = 0;  // peak resident memory
};

// Runs `program` ("heed", or a path) with these arguments and empty standard input, and waits for
// it to end. Fails the test if it cannot be started. `environment`: variables "NAME=value" in
// addition to those of this process.
ProgramResult run_program(const std::string& program, const std::vector<std::string>& arguments,
                          const std::vector<std::string>& environment = {});

// Runs heed, in the precision of this test.
ProgramResult run_heed(const std::vector<std::string>& arguments,
                       const std::vector<std::string>& environment = {});

// The same; fails the test unless the exit code is 0.
ProgramResult succeeded(const std::vector<std::string>& arguments);

// What heed shows on a terminal of so many columns, of both streams. Its standard input is empty.
// Fails the test unless the exit code is 0. Only if has_terminals().
std::string on_terminal(const std::vector<std::string>& arguments, unsigned short columns);

// Whether this build's heed has a command: those of extras may be left out.
bool has_command(const std::string& name);

// False, with a message that what needs it is skipped, if heed-f64 is not built: under sanitizers.
bool has_float64();

// False, with a message that the test is skipped, where a terminal cannot be had or `script` is
// missing, as in a bare root folder.
bool has_terminals();

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> lines_of(const std::string& text);
// How many lines of `text` begin with `start`.
int lines_with(const std::string& text, const std::string& start);

void write_text(const std::filesystem::path& path, const std::string& text);
std::string read_text(const std::filesystem::path& path);

}  // namespace heed::testing
