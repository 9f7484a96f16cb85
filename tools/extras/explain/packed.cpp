#include "tools/extras/explain/packed.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

namespace heed::explain {

namespace {

constexpr std::string_view alphabet =
    "#$%()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_abcdefghijklmnopqrstuvwxyz{|}";
static_assert(alphabet.size() == 85);

size_t characters(size_t bytes) { return (bytes + 3) / 4 * 5; }

size_t bytes_of(Detail detail) {
  return detail == Detail::exact ? sizeof(real) : detail == Detail::sixteen_bits ? 2 : 1;
}

template <class Whole>
PackedRows in_whole_numbers(const Array& matrix, double largest) {
  const int64_t rows = matrix.dim(0), columns = matrix.dim(1);
  std::vector<Whole> numbers;
  std::vector<real> factors;
  numbers.reserve(static_cast<size_t>(matrix.size()));
  for (int64_t r = 0; r < rows; ++r) {
    const auto row =
        matrix.span().subspan(static_cast<size_t>(r * columns), static_cast<size_t>(columns));
    double most = 0;
    for (const real value : row) {
      most = std::max(most, std::abs(static_cast<double>(value)));
    }
    const auto factor = static_cast<real>(most / largest);
    factors.push_back(factor);
    for (const real value : row) {
      const double share =
          factor > 0 ? static_cast<double>(value) / static_cast<double>(factor) : 0;
      numbers.push_back(static_cast<Whole>(std::clamp(std::round(share), -largest, largest)));
    }
  }
  return {base85(std::as_bytes(std::span(numbers))), base85(std::as_bytes(std::span(factors)))};
}

}  // namespace

std::string base85(std::span<const std::byte> bytes) {
  std::string out;
  out.reserve(characters(bytes.size()));
  for (size_t at = 0; at < bytes.size(); at += 4) {
    uint32_t group = 0;
    for (size_t i = 0; i < 4; ++i) {
      group = group << 8 | (at + i < bytes.size() ? std::to_integer<uint32_t>(bytes[at + i]) : 0);
    }
    std::array<char, 5> digits{};
    for (size_t i = 5; i-- > 0; group /= 85) {
      digits[i] = alphabet[group % 85];
    }
    out.append(digits.data(), digits.size());
  }
  return out;
}

size_t packed_size(const Array& matrix, Detail detail) {
  if (detail == Detail::nothing) {
    return 0;
  }
  const auto numbers = static_cast<size_t>(matrix.size()),
             rows = static_cast<size_t>(matrix.dim(0));
  return characters(numbers * bytes_of(detail)) +
         (detail == Detail::exact ? 0 : characters(rows * sizeof(real)));
}

std::string packed(const Array& values) { return base85(std::as_bytes(values.span())); }

PackedRows packed_rows(const Array& matrix, Detail detail) {
  return detail == Detail::sixteen_bits ? in_whole_numbers<int16_t>(matrix, 32767)
                                        : in_whole_numbers<int8_t>(matrix, 127);
}

}  // namespace heed::explain
