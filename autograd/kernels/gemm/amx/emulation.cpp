#include "autograd/kernels/gemm/amx/unit.h"

#ifdef HEED_AMX_EMULATION

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>

#include "autograd/kernels/gemm/amx/instructions.h"

namespace heed::detail {

namespace {

struct EmulatedTile {
  uint32_t rows[tile_side][tile_side];  // float32, or pairs of 16-bit floats, the first one below
};

struct EmulatedTiles {
  EmulatedTile c[4], a[2], b[2];
  bool configured;
};
thread_local EmulatedTiles emulated{};

// On the CPU the use of tiles that are not configured ends the process.
EmulatedTiles& configured_tiles() {
  assert(emulated.configured);
  return emulated;
}

// body(tile, lower, right) for the four tiles of C.
template <class Body>
void for_c_tiles(Body&& body) {
  for (const int64_t i : {0, 1, 2, 3}) body(configured_tiles().c[i], i / 2, i % 2);
}

void fill_tile(EmulatedTile& to, const void* from, size_t row_bytes) {
  for (auto& row : to.rows) {
    std::memcpy(row, from, sizeof row);
    from = static_cast<const std::byte*>(from) + row_bytes;
  }
}

float from_bfloat16(uint32_t bits) {
  const auto value = std::bit_cast<float>(bits << 16);
  const bool denormal = (bits & 0x7f80) == 0;
  return denormal ? std::copysign(0.0F, value) : value;
}

float from_float16(uint32_t bits) {
  constexpr uint32_t smallest_normal = 0x400, infinity = 0x7c00, rebias = (127 - 15) << 23;
  const uint32_t magnitude = bits & 0x7fff;
  const float value = magnitude < smallest_normal ? static_cast<float>(magnitude) * 0x1p-24F
                      : magnitude < infinity      ? std::bit_cast<float>((magnitude << 13) + rebias)
                                             : std::bit_cast<float>((magnitude << 13) + 2 * rebias);
  return magnitude == bits ? value : -value;
}

uint32_t to_float16(float x) {
  constexpr uint32_t smallest_normal = 0x38800000;  // 2^-14
  constexpr uint32_t beyond = 0x47800000;           // 2^16: infinity, rounded either way
  constexpr uint32_t infinity = 0x7f800000, rebias = (127 - 15) << 23;
  const auto bits = std::bit_cast<uint32_t>(x);
  const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > infinity) {
    return sign | 0x7e00 | (magnitude >> 13 & 0x1ff);
  }
  if (magnitude >= beyond) {
    return sign | 0x7c00;
  }
  if (magnitude < smallest_normal) {
    // Units of 2^-24 are those of a float32 from 0.5 to 1: the addition rounds to them.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return sign | (std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(0.5F));
  }
  const uint32_t to_nearest_even = 0xfff + (magnitude >> 13 & 1);
  return sign | (magnitude + to_nearest_even - rebias) >> 13;
}

typedef double Row __attribute__((vector_size(tile_side * sizeof(double))));

// A tile of factors in float64, the first and the second numbers of its pairs.
struct TileFactors {
  Row first[tile_side], second[tile_side];
};

template <class Convert>
TileFactors tile_factors(const EmulatedTile& tile, Convert&& convert) {
  TileFactors factors;
  for (int64_t r = 0; r < tile_side; ++r) {
    for (int64_t k = 0; k < tile_side; ++k) {
      const uint32_t pair = tile.rows[r][k];
      factors.first[r][k] = static_cast<double>(convert(pair & 0xffff));
      factors.second[r][k] = static_cast<double>(convert(pair >> 16));
    }
  }
  return factors;
}

// The nearest float32, or 0 below 2^-126. `tiny` is the smallest number that a rounding to 24 bits
// brings up to 2^-126.
Row to_float32(Row x) {
  constexpr double tiny = 0x1.ffffffp-127;
  const Row rounded = __builtin_convertvector(__builtin_convertvector(x, TileVector), Row);
  const Row magnitude = x < 0 ? -x : x;
  return magnitude < tiny ? x * 0 : rounded;
}

// C += A B. Products of 16-bit floats are exact in float64. Their sum with a float32 is rounded
// twice, to float64 and to float32, and comes out as if rounded once: it is exact in float64 unless
// one term is so small that it cannot decide a rounding to float32.
void add_product(EmulatedTile& c, const TileFactors& a, const TileFactors& b) {
  for (int64_t i = 0; i < tile_side; ++i) {
    Row first{}, second{};
    for (int64_t k = 0; k < tile_side; ++k) {
      first = to_float32(first + a.first[i][k] * b.first[k]);
      second = to_float32(second + a.second[i][k] * b.second[k]);
    }
    TileVector row;
    std::memcpy(&row, c.rows[i], sizeof row);
    const Row before = to_float32(__builtin_convertvector(row, Row));
    row = __builtin_convertvector(to_float32(before + to_float32(first + second)), TileVector);
    std::memcpy(c.rows[i], &row, sizeof row);
  }
}

template <class Convert>
void add_products(Convert&& convert) {
  const EmulatedTiles& t = configured_tiles();
  const TileFactors a[] = {tile_factors(t.a[0], convert), tile_factors(t.a[1], convert)};
  const TileFactors b[] = {tile_factors(t.b[0], convert), tile_factors(t.b[1], convert)};
  for_c_tiles(
      [&](EmulatedTile& c, int64_t lower, int64_t right) { add_product(c, a[lower], b[right]); });
}

// max(|a|, |b|) as VRANGEPS has it: a signalling NaN wins as a quiet one, a quiet NaN loses.
float larger_magnitude(float a, float b) {
  constexpr uint32_t infinity = 0x7f800000, quiet = 0x00400000, all_but_sign = 0x7fffffff;
  const uint32_t u = std::bit_cast<uint32_t>(a) & all_but_sign;
  const uint32_t v = std::bit_cast<uint32_t>(b) & all_but_sign;
  for (const uint32_t x : {u, v}) {
    if (x > infinity && (x & quiet) == 0) {
      return std::bit_cast<float>(x | quiet);
    }
  }
  const bool other = u > infinity || (v <= infinity && v > u);
  return std::bit_cast<float>(other ? v : u);
}

}  // namespace

void configure_tiles() {
  assert(!emulated.configured);  // the inner one's release would leave the outer one without
  emulated = {};
  emulated.configured = true;
}

void release_tiles() { emulated = {}; }

void load_a_tiles(const void* upper, const void* lower) {
  fill_tile(configured_tiles().a[0], upper, tile_row_bytes);
  fill_tile(configured_tiles().a[1], lower, tile_row_bytes);
}

void load_b_tiles(const void* left, const void* right) {
  fill_tile(configured_tiles().b[0], left, tile_row_bytes);
  fill_tile(configured_tiles().b[1], right, tile_row_bytes);
}

void zero_c_tiles() {
  for (EmulatedTile& tile : configured_tiles().c) {
    tile = {};
  }
}

void load_c_tiles(const real* c, size_t row_bytes) {
  const auto ldc = static_cast<int64_t>(row_bytes / sizeof(real));
  for_c_tiles([&](EmulatedTile& tile, int64_t lower, int64_t right) {
    fill_tile(tile, c + tile_side * (lower * ldc + right), row_bytes);
  });
}

void store_c_tiles(real* c, size_t row_bytes) {
  const auto ldc = static_cast<int64_t>(row_bytes / sizeof(real));
  for_c_tiles([&](const EmulatedTile& tile, int64_t lower, int64_t right) {
    for (int64_t r = 0; r < tile_side; ++r) {
      std::memcpy(c + (lower * tile_side + r) * ldc + right * tile_side, tile.rows[r],
                  tile_row_bytes);
    }
  });
}

void add_bfloat16_products() { add_products(from_bfloat16); }
void add_float16_products() { add_products(from_float16); }

void store_as_float16(void* to, TileVector v) {
  std::array<uint16_t, tile_side> numbers;
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<uint16_t>(to_float16(v[i]));
  }
  std::memcpy(to, numbers.data(), sizeof numbers);
}

TileVector pick(TileVector a, TileBits lanes_of_both, TileVector b) {
  TileVector picked;
  for (int64_t i = 0; i < tile_side; ++i) {
    const uint32_t lane = lanes_of_both[i];
    picked[i] = lane < tile_side ? a[lane] : b[lane - tile_side];
  }
  return picked;
}

TileVector load_first(int64_t n, const real* from) {
  TileVector first{};
  for (int64_t i = 0; i < n; ++i) {
    first[i] = from[i];
  }
  return first;
}

TileVector larger_magnitude(TileVector a, TileVector b) {
  TileVector larger_ones;
  for (int64_t i = 0; i < tile_side; ++i) {
    larger_ones[i] = larger_magnitude(static_cast<float>(a[i]), static_cast<float>(b[i]));
  }
  return larger_ones;
}

bool all_up_to(TileBits bits, uint32_t most) {
  for (int64_t i = 0; i < tile_side; ++i) {
    if (bits[i] > most) {
      return false;
    }
  }
  return true;
}

TileVector load_quads(const real* from, int64_t step) {
  constexpr int64_t quad = 4;
  TileVector quads;
  for (int64_t i = 0; i < tile_side; ++i) {
    quads[i] = from[i / quad * quad * step + i % quad];
  }
  return quads;
}

}  // namespace heed::detail

#endif
