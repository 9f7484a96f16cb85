#include "train/wings/oniguruma/translate.h"

#include <doctest/doctest.h>

#include "autograd/base/error.h"
#include "tests/support/broken_files.h"

using namespace heed;
using namespace heed::testing;

namespace {

std::string translated(const std::string& pattern, const std::string& scripts = "sc:") {
  try {
    return translate_oniguruma(pattern, scripts, "t.json: pre_tokenizer");
  } catch (const IoError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("oniguruma: what PCRE2 has no words for is translated, what it reads otherwise refused") {
  CHECK(check_broken("oniguruma.txt",
                     [](const BrokenFile& broken) { return translated(broken.content); }) == 49);
  CHECK(translated("\\p{Han}", "") == R"([\p{Han}])");
  CHECK(translated(std::string(5000, '[') + "a").find("without end") != std::string::npos);
}
