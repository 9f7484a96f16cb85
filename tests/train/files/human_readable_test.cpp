#include "train/files/human_readable.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/run_program.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("words: bytes in the unit that shows digits, never 0.0 MB") {
  for (const auto& [bytes, expected] :
       std::vector<std::pair<int64_t, std::string>>{{0, "0 B"},
                                                    {512, "512 B"},
                                                    {1000, "1.0 kB"},
                                                    {15'640, "15.6 kB"},
                                                    {231'000, "231 kB"},
                                                    {999'499, "999 kB"},
                                                    {999'500, "1.0 MB"},
                                                    {73'400'320, "73.4 MB"},
                                                    {999'499'999, "999 MB"},
                                                    {999'500'000, "1.00 GB"},
                                                    {12'500'000'000, "12.50 GB"},
                                                    {104'000'000'000, "104 GB"}}) {
    CHECK(bytes_text(bytes) == expected);
  }
}

TEST_CASE("words: three digits and a prefix") {
  CHECK(short_number(0) == "0");
  CHECK(short_number(999) == "999");
  CHECK(short_number(1234567) == "1.23 M");
  CHECK(short_number(5087e6) == "5.09 G");
  CHECK(short_number(999.7e6) == "1 G");  // not "1e+03 M"
}

TEST_CASE("words: a word of a command line, quoted where a shell would change it") {
  for (const auto& [word, expected] :
       std::vector<std::pair<std::string, std::string>>{{"runs/a-1_b.c", "runs/a-1_b.c"},
                                                        {"train.steps=40", "train.steps=40"},
                                                        {"", "''"},
                                                        {"my runs/a", "'my runs/a'"},
                                                        {"~/a", "'~/a'"},
                                                        {"$HOME", "'$HOME'"},
                                                        {"a;b", "'a;b'"},
                                                        {"it's", "'it'\\''s'"},
                                                        {"\xE7\x8C\xAB", "'\xE7\x8C\xAB'"}}) {
    CHECK(shell_word(word) == expected);
  }
}

TEST_CASE("words: a shell reads a quoted word back as it was") {
  for (const std::string word :
       {"runs/mine", "", "we ird", "it's", "$HOME `ls` \\ \"x\" *?!;&|<>(){}~#", "caf\xC3\xA9",
        "caf\xE9", "a\nb\t'c'\\", "\x1B[31m",
        "\xC2\x9B"
        "1m",
        "--out=x"}) {
    const ProgramResult shell = run_program("/bin/bash", {"-c", "printf %s " + shell_word(word)});
    CHECK(shell.exit_code == 0);
    CHECK(shell.out == word);
  }
  CHECK(shell_word("\x1B[0m'\xE9") == "$'\\x1b[0m\\'\\xe9'");
  CHECK(shell_word("a\u202Eb\u00E9") == "$'a\\xe2\\x80\\xaeb\xC3\xA9'");  // it reorders a line
}
