// The functions of instructions.h, the CPU's or the emulation's, against plain definitions.
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "autograd/kernels/gemm/amx/unit.h"
#include "autograd/random/fills.h"
#include "autograd/random/generator.h"

#ifdef HEED_HAS_AMX

#include "autograd/kernels/gemm/amx/tiles.h"

using namespace heed;
using namespace heed::detail;

namespace {

const doctest::skip without_tiles(!amx_runs(AmxFormat::bfloat16));
const doctest::skip without_float16(!amx_runs(AmxFormat::float16));

float flushed(float x) { return std::abs(x) < 0x1p-126F ? std::copysign(0.0F, x) : x; }

float bfloat16(uint16_t bits) { return flushed(std::bit_cast<float>(uint32_t{bits} << 16)); }

float float16(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  const float value = exponent == 0
                          ? std::ldexp(static_cast<float>(fraction), -24)
                          : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  return (bits & 0x8000) != 0 ? -value : value;
}

struct Block {
  alignas(64) std::array<uint16_t, 2 * 16 * 32> a, b;  // two tiles each
  alignas(64) std::array<float, 32 * 32> c;
};

// Four products by the definition in instructions.h.
template <class Convert>
std::array<float, 32 * 32> defined(const Block& x, Convert&& convert) {
  std::array<float, 32 * 32> c{};
  for (size_t i = 0; i < 32; ++i) {
    for (size_t j = 0; j < 32; ++j) {
      std::array<float, 2> sums{};
      for (size_t p = 0; p < 16; ++p) {
        for (size_t s = 0; s < 2; ++s) {
          const float u = convert(x.a[i * 32 + 2 * p + s]);
          const float v = convert(x.b[j / 16 * 512 + p * 32 + 2 * (j % 16) + s]);
          sums[s] = flushed(std::fma(u, v, sums[s]));
        }
      }
      c[i * 32 + j] = flushed(flushed(x.c[i * 32 + j]) + flushed(sums[0] + sums[1]));
    }
  }
  return c;
}

std::array<float, 32 * 32> multiplied(const Block& x, void (*add_products)()) {
  std::array<float, 32 * 32> c = x.c;
  const TileRegisters registers;
  before_tile_loads(&x);
  before_tile_loads(c.data());
  load_c_tiles(c.data(), 32 * sizeof(float));
  load_a_tiles(x.a.data(), x.a.data() + 512);
  load_b_tiles(x.b.data(), x.b.data() + 512);
  add_products();
  store_c_tiles(c.data(), 32 * sizeof(float));
  before_tile_loads(c.data());
  return c;
}

struct Exponents {
  uint32_t least, count;
};

// Numbers of all signs and fractions with these exponents, as their bits are.
Block random_block(Generator& g, int fraction_bits, Exponents range) {
  const auto number = [&] {
    const uint32_t r = g.random32();
    const uint32_t exponent = range.least + (r >> 16 & 0x7fff) % range.count;
    const uint32_t low = (1U << fraction_bits) - 1;
    return static_cast<uint16_t>((r & 0x8000) | exponent << fraction_bits | (r & low));
  };
  Block x;
  for (uint16_t& bits : x.a) bits = number();
  for (uint16_t& bits : x.b) bits = number();
  for (float& value : x.c) {
    value = std::ldexp(static_cast<float>(g.random32() % 2001) - 1000,
                       2 * (static_cast<int>(range.least) - (fraction_bits == 7 ? 127 : 15)));
  }
  return x;
}

template <class Convert>
void check_products(int fraction_bits, std::initializer_list<Exponents> ranges,
                    void (*add_products)(), Convert&& convert) {
  Generator g(3);
  for (const Exponents& range : ranges) {
    CAPTURE(range.least);
    for (int repeat = 0; repeat < 4; ++repeat) {
      const Block x = random_block(g, fraction_bits, range);
      const auto got = multiplied(x, add_products), want = defined(x, convert);
      for (size_t i = 0; i < got.size(); ++i) {
        CHECK(std::bit_cast<uint32_t>(got[i]) == std::bit_cast<uint32_t>(want[i]));
      }
    }
  }
}

}  // namespace

TEST_CASE("amx instructions: products of bfloat16, denormals flushed" * without_tiles) {
  // Like numbers, some 2^30 apart, products around 2^-126, factors around it.
  check_products(7, {{127, 4}, {100, 30}, {57, 12}, {0, 3}, {190, 3}}, add_bfloat16_products,
                 bfloat16);
}

TEST_CASE("amx instructions: products of float16, denormals kept" * without_float16) {
  check_products(10, {{15, 3}, {0, 31}, {0, 2}, {27, 4}}, add_float16_products, float16);
}

TEST_CASE("amx instructions: infinities and NaNs pass through" * without_tiles) {
  Generator g(4);
  Block x = random_block(g, 7, {127, 2});
  x.a[3 * 32 + 5] = 0x7f80;      // row 3
  x.b[7 * 32 + 2 * 9] = 0xffc0;  // column 9: NaN
  x.c[20 * 32 + 20] = -std::numeric_limits<float>::infinity();
  const auto c = multiplied(x, add_bfloat16_products);
  for (size_t i = 0; i < 32; ++i) {
    for (size_t j = 0; j < 32; ++j) {
      const float value = c[i * 32 + j];
      CHECK(std::isnan(value) == (j == 9));
      CHECK(std::isinf(value) == (j != 9 && (i == 3 || (i == 20 && j == 20))));
    }
  }
}

TEST_CASE("amx instructions: conversion to float16" * without_tiles) {
  const auto converted = [](float x) {
    alignas(32) std::array<uint16_t, 16> to;
    store_as_float16(to.data(), x - TileVector{});
    return to[15];
  };
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const float value = float16(static_cast<uint16_t>(bits));
    const float next = float16(static_cast<uint16_t>(bits + 1));  // 65536 after the largest
    const float middle = value + (next - value) / 2;
    const uint32_t even = bits + (bits & 1);
    CHECK(converted(value) == bits);
    CHECK(converted(-value) == (bits | 0x8000));
    CHECK(converted(middle) == even);
    CHECK(converted(std::nextafter(middle, 0.0F)) == bits);
    CHECK(converted(std::nextafter(middle, next)) == bits + 1);
  }
  CHECK(converted(std::numeric_limits<float>::max()) == 0x7c00);
  CHECK(converted(-std::numeric_limits<float>::infinity()) == 0xfc00);
  CHECK(converted(std::numeric_limits<float>::quiet_NaN()) == 0x7e00);
}

TEST_CASE("amx instructions: vectors" * without_tiles) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> numbers(256);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  const TileVector a = load_row(numbers.data()), b = load_row(numbers.data() + 16);
  const TileBits reversed = {31, 30, 29, 28, 27, 26, 25, 24, 7, 6, 5, 4, 3, 2, 1, 0};
  const TileVector picked = pick(a, reversed, b), quads = load_quads(numbers.data(), 16);
  // At the end of its memory, so that the address sanitizer sees a read beyond it.
  const TileVector some = load_first(5, numbers.data() + 251);
  const TileVector magnitudes = larger_magnitude(TileVector{-3, 2, nan, -1, nan, -0.0F},
                                                 TileVector{2, -4, -5, nan, nan, -0.0F});
  for (int i = 0; i < 16; ++i) {
    CHECK(picked[i] == static_cast<float>(reversed[i]));
    CHECK(quads[i] == static_cast<float>(64 * (i / 4) + i % 4));
    CHECK(some[i] == (i < 5 ? static_cast<float>(251 + i) : 0));
  }
  CHECK(magnitudes[0] == 3);
  CHECK(magnitudes[1] == 4);
  CHECK(magnitudes[2] == 5);
  CHECK(magnitudes[3] == 1);
  CHECK(std::isnan(magnitudes[4]));
  CHECK(std::bit_cast<uint32_t>(static_cast<float>(magnitudes[5])) == 0);
  CHECK(all_up_to(reversed, 31));
  CHECK(!all_up_to(reversed, 30));
}

#else

TEST_CASE("amx instructions: not in this build" * doctest::skip()) {}

#endif
