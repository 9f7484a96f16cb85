#include "autograd/random/dropout_mask.h"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "autograd/base/error.h"

namespace heed {
namespace {

constexpr DropoutStream kStreams[] = {DropoutStream::mcg31, DropoutStream::mt19937};

std::vector<uint8_t> kept(const DropoutMask& mask, int64_t first, int64_t n) {
  std::vector<real> factors(static_cast<size_t>(n), 9);
  mask.scale(first, n, factors.data());
  std::vector<uint8_t> out;
  for (const real factor : factors) out.push_back(factor != 0);
  return out;
}

std::string digits(const std::vector<uint8_t>& bits) {
  std::string out;
  for (const uint8_t b : bits) out += static_cast<char>('0' + b);
  return out;
}

TEST_CASE("dropout stream: the masks and thresholds of the reference recursion") {
  std::ifstream in(std::string(HEED_SOURCE_DIR) + "/tests/golden/random/mcg31.txt");
  REQUIRE(in.good());
  int64_t masks = 0;
  int64_t thresholds = 0;
  for (std::string line; std::getline(in, line);) {
    CAPTURE(line);
    std::istringstream words(line);
    std::string name, equals, expected;
    words >> name;
    double p = 0;
    if (name == "mcg31") {
      uint64_t seed = 0;
      int64_t n = 0, first = 0;
      words >> seed >> p >> n >> first >> equals >> expected;
      Generator g(seed);
      const DropoutMask mask = make_dropout_mask(g, DropoutStream::mcg31, p, first + n);
      CHECK(digits(kept(mask, first, n)) == expected);
      CHECK(g.state().index == 1);
      ++masks;
    } else if (name == "threshold") {
      words >> p >> equals >> expected;
      CHECK(std::to_string(Mcg31::threshold(p)) == expected);
      ++thresholds;
    }
  }
  CHECK(masks == 90);
  CHECK(thresholds == 104);
}

TEST_CASE("dropout stream: the printed 6 x 6 matrices of seed 123, p = 0.5") {
  const std::string printed[] = {
      "222222"
      "020000"
      "002020"
      "220002"
      "200002"
      "020000",
      "220220"
      "000202"
      "222202"
      "022002"
      "020202"
      "022220"};
  for (const DropoutStream stream : kStreams) {
    Generator g(123);
    const DropoutMask mask = make_dropout_mask(g, stream, 0.5, 36);
    std::vector<real> factors(36);
    mask.scale(0, 36, factors.data());
    std::string ours;
    for (const real f : factors) ours += static_cast<char>('0' + static_cast<int>(f));
    CHECK(ours == printed[static_cast<size_t>(stream)]);
  }
}

TEST_CASE("dropout stream: the threshold is the comparison in double on both of its sides") {
  int64_t compared = 0;
  for (int i = 1; i < 1000; ++i) {
    const double p = i < 990 ? i / 991.0 : std::pow(10.0, -(i - 980));
    const int64_t limit = Mcg31::threshold(p);
    for (int64_t x = std::max<int64_t>(limit - 40, 0);
         x < std::min<int64_t>(limit + 40, Mcg31::kModulus); ++x) {
      REQUIRE((static_cast<double>(x) / Mcg31::kModulus < 1.0 - p) == (x < limit));
      ++compared;
    }
  }
  CHECK(compared > 79000);
}

TEST_CASE("dropout stream: skipping ahead is stepping") {
  Generator g(77);
  const Mcg31 stream = Mcg31::draw(g);
  uint64_t x = stream.x0;
  for (int64_t i = 0; i < 70000; ++i) {
    REQUIRE(stream.at(i) == x);
    x = x * Mcg31::kMultiplier % Mcg31::kModulus;
  }
  for (const int64_t i : {int64_t{1} << 31, (int64_t{1} << 45) + 3, int64_t{2147483646} * 5}) {
    CHECK(stream.at(i) == stream.at(i % 2147483646));
    CHECK(stream.at(i + 1) == uint64_t{stream.at(i)} * Mcg31::kMultiplier % Mcg31::kModulus);
  }
}

TEST_CASE("dropout stream: a block is the same wherever it starts") {
  constexpr int64_t kN = 1500;
  for (const DropoutStream stream : kStreams) {
    for (const double p : {0.1, 0.5}) {
      CAPTURE(name_of(stream));
      Generator g(5);
      const DropoutMask mask = make_dropout_mask(g, stream, p, kN);
      const std::vector<uint8_t> whole = kept(mask, 0, kN);
      int64_t compared = 0;
      for (int64_t first = 0; first < 140; ++first) {
        for (const int64_t n : {0, 1, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 700, 1360}) {
          const std::vector<uint8_t> block = kept(mask, first, n);
          REQUIRE(std::equal(block.begin(), block.end(), whole.begin() + first));
          compared += n;
        }
      }
      CHECK(kept(mask, kN - 1, 1).front() == whole.back());
      CHECK(compared == 140 * 2636);
    }
  }
}

TEST_CASE("dropout stream: scale, multiply and sign tell the same") {
  constexpr real kInfinity = std::numeric_limits<real>::infinity();
  for (const DropoutStream stream : kStreams) {
    for (const double p : {0.0, 0.15, 0.5, 1.0}) {
      Generator g(11);
      const DropoutMask mask = make_dropout_mask(g, stream, p, 400);
      for (const int64_t n : {1, 7, 16, 64, 129, 300}) {
        const std::vector<uint8_t> bits = kept(mask, 3, n);
        std::vector<real> in(static_cast<size_t>(n)), factors(in), products(in), signs(in);
        for (int64_t i = 0; i < n; ++i) in[i] = static_cast<real>(i % 5) * real(0.7);
        mask.scale(3, n, factors.data());
        mask.multiply(3, n, in.data(), products.data());
        mask.sign(3, n, in.data(), signs.data());
        std::vector<real> in_place = in;
        mask.multiply(3, n, in_place.data(), in_place.data());
        for (int64_t i = 0; i < n; ++i) {
          REQUIRE(factors[i] == (bits[i] ? mask.factor() : real(0)));
          REQUIRE(products[i] == in[i] * factors[i]);
          REQUIRE(in_place[i] == products[i]);
          REQUIRE(std::signbit(signs[i]) == !bits[i]);
          REQUIRE(std::fabs(signs[i]) == in[i]);
        }
      }
      const std::vector<real> infinite(400, kInfinity);
      std::vector<real> out(400);
      mask.multiply(0, 400, infinite.data(), out.data());
      const std::vector<uint8_t> bits = kept(mask, 0, 400);
      int64_t dropped = 0;
      for (size_t i = 0; i < out.size(); ++i) {
        REQUIRE(std::isnan(out[i]) == !bits[i]);
        dropped += !bits[i];
      }
      CHECK(std::fabs(static_cast<double>(dropped) / 400 - p) < 0.08);
    }
  }
}

TEST_CASE("dropout stream: what draws and what does not") {
  for (const DropoutStream stream : kStreams) {
    Generator g(1);
    const GeneratorState before = g.state();
    CHECK(make_dropout_mask(g, stream, 0.0, 10).is_identity());
    CHECK(make_dropout_mask(g, stream, 0.5, 10, false).is_identity());
    CHECK(make_dropout_mask(g, stream, 0.5, 0).is_identity());
    CHECK(make_dropout_mask(g, stream, 1.0, 10).factor() == 0);
    CHECK(g.state() == before);
    make_dropout_mask(g, stream, 0.5, 10);
    CHECK(g.state().index == (stream == DropoutStream::mcg31 ? 1 : 20));
  }
}

TEST_CASE("dropout stream: the factor is PyTorch's") {
  Generator g(1);
  const auto factor = [&](double p) {
    return make_dropout_mask(g, DropoutStream::mcg31, p, 1).factor();
  };
  CHECK(factor(0.5) == real(2));
  for (const double p : {0.1, 0.15, 0.2, 0.3}) {
    CHECK(factor(p) == real(1) / static_cast<real>(1.0 - p));
  }
  CHECK(factor(0.0) == real(1));
  CHECK(factor(1.0) == real(0));
}

TEST_CASE("dropout stream: refusals") {
  Generator g(1);
  for (const double p : {-0.1, 1.1, std::nan("")}) {
    CHECK_THROWS_AS(make_dropout_mask(g, DropoutStream::mcg31, p, 3), ConfigError);
  }
  CHECK_THROWS_WITH_AS(make_dropout_mask(g, DropoutStream::mcg31, 1.5, 3),
                       "dropout: p must be in [0, 1], got 1.5", ConfigError);
  CHECK_THROWS_WITH_AS(make_dropout_mask(g, DropoutStream::mcg31, 0.5, -1),
                       "dropout: the number of elements must be at least 0, got -1", ShapeError);
}

}  // namespace
}  // namespace heed
