// Numbers and names formatted for people.
#pragma once

#include <cstdint>
#include <string>

namespace heed {

std::string grouped(int64_t number);      // 62300 -> "62,300"
std::string clock_text(double seconds);   // 3725 -> "1:02:05", 34 -> "0:34"
std::string bytes_text(int64_t bytes);    // "512 B", "15.6 kB", "73.4 MB", "12.50 GB"
std::string short_number(double number);  // 1234567 -> "1.23 M"
std::string loss_text(double loss);       // "1.8973"; of one below 0.001 "4.2e-05"

// A word of a command line that is printed to be copied into a shell. In quotes if the shell would
// change it: runs/mine, 'my run'. Control characters and bytes that are not UTF-8 are escaped, in
// the quotes of bash and zsh: $'two\x0alines'.
std::string shell_word(const std::string& word);

}  // namespace heed
