#include "tools/extras/report/pages/base64.h"

#include <algorithm>

namespace heed {

namespace {

constexpr std::string_view base64_letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string to_base64(std::span<const std::byte> bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (k < count ? std::to_integer<uint32_t>(bytes[i + k]) : 0U);
    }
    for (size_t k = 0; k < 4; ++k) {
      out += k <= count ? base64_letters[bits >> (18 - 6 * k) & 63U] : '=';
    }
  }
  return out;
}

std::vector<uint8_t> from_base64(std::string_view text, size_t count) {
  std::vector<uint8_t> bytes;
  uint32_t bits = 0;
  int known = 0;
  for (const char letter : text) {
    bits = bits << 6 | static_cast<uint32_t>(base64_letters.find(letter) & 63U);
    known += 6;
    if (known >= 8) {
      known -= 8;
      bytes.push_back(static_cast<uint8_t>(bits >> known & 255U));
    }
  }
  bytes.resize(count);
  return bytes;
}

}  // namespace heed
