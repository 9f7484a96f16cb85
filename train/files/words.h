// Numbers formatted for people.
#pragma once

#include <cstdint>
#include <string>

namespace heed {

std::string grouped(int64_t number);      // 62300 -> "62,300"
std::string clock_text(double seconds);   // 3725 -> "1:02:05", 34 -> "0:34"
std::string bytes_text(int64_t bytes);    // "512 B", "15.6 kB", "73.4 MB", "12.50 GB"
std::string short_number(double number);  // 1234567 -> "1.23 M"

// A word of a command line for a POSIX shell: in single quotes if the shell would change it.
std::string shell_word(const std::string& word);

}  // namespace heed
