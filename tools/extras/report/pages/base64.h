// Bytes as text inside JSON (RFC 4648, section 4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

std::string to_base64(std::span<const std::byte> bytes);

// Exactly `count` bytes: what is missing or no base64 in a damaged file becomes some byte or other.
std::vector<uint8_t> from_base64(std::string_view text, size_t count);

}  // namespace heed
