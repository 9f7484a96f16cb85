#include "tools/extras/report/pages/base64.h"

#include <doctest/doctest.h>

#include <numeric>

using namespace heed;

TEST_CASE("base64: the examples of RFC 4648, and back") {
  const std::pair<std::string, std::string> examples[] = {{"", ""},
                                                          {"f", "Zg=="},
                                                          {"fo", "Zm8="},
                                                          {"foo", "Zm9v"},
                                                          {"foob", "Zm9vYg=="},
                                                          {"fooba", "Zm9vYmE="},
                                                          {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, coded] : examples) {
    const std::vector<uint8_t> bytes(plain.begin(), plain.end());
    CHECK(to_base64(std::as_bytes(std::span(bytes))) == coded);
    CHECK(from_base64(coded, bytes.size()) == bytes);
  }
}

TEST_CASE("base64: every byte, and as many as were asked for") {
  std::vector<uint8_t> all(256);
  std::iota(all.begin(), all.end(), uint8_t{0});
  CHECK(from_base64(to_base64(std::as_bytes(std::span(all))), all.size()) == all);
  CHECK(from_base64("Zg", 3).size() == 3);
  CHECK(from_base64("?!", 1).size() == 1);
}
