#include "autograd/random/fills.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "autograd/array/storage.h"
#include "autograd/base/error.h"
#include "autograd/random/dropout_mask.h"
#include "autograd/random/generator.h"
#include "autograd/random/streams.h"

namespace heed {
namespace {

// One line of tests/golden/random/*.txt: `name arguments = results`.
struct Call {
  std::string line;
  std::string name;
  std::vector<std::string> arguments;
  std::vector<std::string> results;

  int64_t integer(size_t i) const { return std::stoll(arguments.at(i)); }
  double number(size_t i) const { return std::stod(arguments.at(i)); }
};

std::vector<Call> read_calls(const std::string& file) {
  std::ifstream in(std::string(HEED_SOURCE_DIR) + "/tests/golden/random/" + file);
  REQUIRE_MESSAGE(in.good(), file, " is missing");
  std::vector<Call> calls;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    Call call;
    call.line = line.substr(0, 60);
    words >> call.name;
    bool results = false;
    for (std::string word; words >> word;) {
      if (word == "=") {
        results = true;
      } else {
        (results ? call.results : call.arguments).push_back(word);
      }
    }
    calls.push_back(call);
  }
  return calls;
}

int64_t mismatches(const std::vector<real>& ours, const Call& call) {
  REQUIRE(ours.size() == call.results.size());
  int64_t wrong = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    const auto expected =
        std::bit_cast<float>(static_cast<uint32_t>(std::stoul(call.results[i], nullptr, 16)));
    const bool same_sign = std::signbit(ours[i]) == std::signbit(expected);
    wrong += !(same_sign && ours[i] == static_cast<real>(expected));
  }
  return wrong;
}

template <class T>
int64_t mismatches_integer(const std::vector<T>& ours, const Call& call) {
  REQUIRE(ours.size() == call.results.size());
  int64_t wrong = 0;
  for (size_t i = 0; i < ours.size(); ++i) wrong += std::to_string(ours[i]) != call.results[i];
  return wrong;
}

// The input of the script that wrote the golden files.
std::vector<real> dropout_input(int64_t n) {
  std::vector<real> x(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) x[i] = static_cast<real>(i % 13 - 6) * real(0.375);
  return x;
}

std::vector<real> uniform(Generator& g, int64_t n, double low, double high) {
  std::vector<real> x(static_cast<size_t>(n));
  fill_uniform(g, x, low, high);
  return x;
}

std::vector<real> normal(Generator& g, int64_t n, double mean, double std) {
  std::vector<real> x(static_cast<size_t>(n));
  fill_normal(g, x, mean, std);
  return x;
}

// torch.nn.Linear: kaiming_uniform_(a = sqrt(5)) for the weight, then the bias.
std::vector<real> linear(Generator& g, int64_t d_in, int64_t d_out) {
  const double gain = std::sqrt(2.0 / (1.0 + std::sqrt(5.0) * std::sqrt(5.0)));
  const double bound = std::sqrt(3.0) * (gain / std::sqrt(static_cast<double>(d_in)));
  std::vector<real> values = uniform(g, d_in * d_out, -bound, bound);
  const double bias_bound = 1.0 / std::sqrt(static_cast<double>(d_in));
  const std::vector<real> bias = uniform(g, d_out, -bias_bound, bias_bound);
  values.insert(values.end(), bias.begin(), bias.end());
  return values;
}

// In float64 the mask is that of float32, and the factor 1 / (1 - p) is a double.
int64_t dropout_mismatches(Generator& g, const Call& call) {
  const int64_t n = call.integer(0);
  const double p = call.number(1);
  const DropoutMask mask = make_dropout_mask(g, DropoutStream::mt19937, p, n, call.integer(2) == 1);
  const std::vector<real> in = dropout_input(n);
  std::vector<real> out(in);
  mask.multiply(0, n, in.data(), out.data());
  if constexpr (!is_float64) return mismatches(out, call);

  std::vector<real> factors(in.size());
  mask.scale(0, n, factors.data());
  const bool scaled = !mask.is_identity() && mask.factor() != 0;
  const double wide = scaled ? 1.0 / (1.0 - p) : 1.0;
  const float narrow = scaled ? 1.0f / static_cast<float>(1.0 - p) : 1.0f;
  std::vector<real> in_float32(in.size());
  int64_t wrong = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    wrong +=
        static_cast<double>(out[i]) != static_cast<double>(in[i]) * (factors[i] != 0 ? wide : 0.0);
    in_float32[i] = static_cast<float>(in[i]) * (factors[i] != 0 ? narrow : 0.0f);
  }
  return wrong + mismatches(in_float32, call);
}

// Makes one call and returns the number of results that differ from PyTorch.
int64_t replay(Generator& g, const Call& call) {
  const auto n = [&](size_t i = 0) { return call.integer(i); };
  if (call.name == "seed") {
    g.manual_seed(std::stoull(call.arguments.at(0)));
    return 0;
  }
  if (call.name == "words") {
    std::vector<uint32_t> words(static_cast<size_t>(n()));
    g.words(words);
    return mismatches_integer(words, call);
  }
  if (call.name == "uniform") {
    return mismatches(uniform(g, n(), call.number(1), call.number(2)), call);
  }
  if (call.name == "normal") {
    return mismatches(normal(g, n(), call.number(1), call.number(2)), call);
  }
  if (call.name == "bernoulli") {
    std::vector<real> x(static_cast<size_t>(n()));
    for (real& v : x) v = g.u53() < call.number(1) ? 1 : 0;
    return mismatches(x, call);
  }
  if (call.name == "randint") {
    std::vector<int64_t> x(static_cast<size_t>(n()));
    fill_randint(g, x, n(1), n(2));
    return mismatches_integer(x, call);
  }
  if (call.name == "int63") return mismatches_integer(std::vector{g.random_int63()}, call);
  if (call.name == "randperm") return mismatches_integer(randperm(g, n()), call);
  if (call.name == "linear") return mismatches(linear(g, n(0), n(1)), call);
  if (call.name == "embedding") return mismatches(normal(g, n(0) * n(1), 0, 1), call);
  if (call.name == "dropout") return dropout_mismatches(g, call);
  if (call.name == "loader") {
    return mismatches_integer(data_loader_order(data_loader_seed(g), n()), call);
  }
  REQUIRE(call.name == "loader_unshuffled");
  data_loader_unshuffled(g);
  return 0;
}

TEST_CASE("fills: every call of PyTorch 2.13, bit for bit, in sequence") {
  Generator g;
  int64_t compared = 0;
  for (const Call& call : read_calls("torch.txt")) {
    CAPTURE(call.line);
    CHECK(replay(g, call) == 0);
    compared += std::ssize(call.results);
  }
  CHECK(compared > 15000);
}

TEST_CASE("fills: a fill is the same in pieces as at once") {
  Generator whole(5);
  Generator pieces(5);
  const std::vector<real> x = uniform(whole, 3000, -1, 2);
  int64_t at = 0;
  for (const int64_t n : {1, 0, 15, 16, 17, 1024, 1, 1926}) {
    for (const real value : uniform(pieces, n, -1, 2)) REQUIRE(value == x[at++]);
  }
  CHECK(at == 3000);
  CHECK(whole.state() == pieces.state());
}

TEST_CASE("fills: a restored state continues the sequence, a cached normal included") {
  Generator g(42);
  normal(g, 7, 0, 1);
  uniform(g, 700, 0, 1);
  const GeneratorState saved = g.state();
  REQUIRE(saved.cached_normal.has_value());
  const std::vector<real> next_normal = normal(g, 5, 0, 1);
  const std::vector<real> next_uniform = uniform(g, 1300, 0, 1);
  CHECK_FALSE(g.state() == saved);

  Generator other(1);
  other.set_state(saved);
  CHECK(other.state() == saved);
  CHECK(normal(other, 5, 0, 1) == next_normal);
  CHECK(uniform(other, 1300, 0, 1) == next_uniform);

  GeneratorState without = saved;
  without.cached_normal.reset();
  CHECK_FALSE(without == saved);
  other.set_state(without);
  CHECK_FALSE(normal(other, 1, 0, 1).front() == next_normal.front());
  other.manual_seed(42);
  CHECK_FALSE(other.state().cached_normal.has_value());
}

template <class F>
std::string config_error(F&& call) {
  try {
    call();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST_CASE("fills: refusals") {
  Generator g(1);
  const GeneratorState before = g.state();
  CHECK(config_error([&] { uniform(g, 2, 1, 0); }) ==
        "uniform: expected finite low <= high, got low 1 and high 0");
  CHECK(config_error([&] { normal(g, 2, 0, -1); }) ==
        "normal: expected a finite mean and std >= 0, got mean 0 and std -1");
  CHECK(config_error([&] { normal(g, 20, std::nan(""), 1); }).starts_with("normal: expected"));
  std::vector<int64_t> ids(2);
  CHECK(config_error([&] { fill_randint(g, ids, 3, 3); }) ==
        "randint: expected low < high, got low 3 and high 3");
  CHECK(config_error([&] { randperm(g, 214748364); }) ==
        "randperm: n must be in [0, 214748364), got 214748364");
  CHECK(config_error([&] { randperm(g, -1); }).ends_with("got -1"));
  CHECK(g.state() == before);
}

TEST_CASE("fills: a dry run draws nothing and writes nothing") {
  Generator g(1);
  const GeneratorState before = g.state();
  std::vector<real> x(40, real(7));
  {
    const DryRun dry;
    fill_uniform(g, x);
    fill_normal(g, x);
    CHECK_FALSE(make_dropout_mask(g, DropoutStream::mcg31, 0.5, 40).is_identity());
    CHECK_FALSE(make_dropout_mask(g, DropoutStream::mt19937, 0.5, 40).is_identity());
  }
  CHECK(g.state() == before);
  CHECK(x == std::vector<real>(40, real(7)));
}

}  // namespace
}  // namespace heed
