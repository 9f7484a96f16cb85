// Times the overhead of the autograd engine: a chain of multiplications of small arrays, forward
// and backward.
//   chain_bench --length 1000 --width 4 --json
#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "autograd/ops/arithmetic.h"
#include "tools/extras/bench/programs/timing.h"

int main(int argc, char** argv) {
  using namespace heed;
  int64_t length = 1000, width = 4;
  int rounds = 200;
  bool json = false;
  CLI::App app{"Times y = x * f * f * ... and its backward pass; the median, an operation."};
  app.add_option("--length", length, "how many multiplications")->check(CLI::PositiveNumber);
  app.add_option("--width", width, "numbers in each array")->check(CLI::PositiveNumber);
  app.add_option("--rounds", rounds)->check(CLI::PositiveNumber);
  app.add_flag("--json", json);
  CLI11_PARSE(app, argc, argv);

  Tensor x = Tensor::parameter(Array::full({width}, 1));
  const Tensor factor(Array::full({width}, static_cast<real>(0.999)));
  const Array dy = Array::full({width}, 1);
  const double ms = bench::median_ms(rounds, [&] {
    x.zero_grad();
    Tensor y = x;
    for (int64_t i = 0; i < length; ++i) {
      y = y * factor;
    }
    y.backward(dy);
  });
  const double us = 1e3 * ms / static_cast<double>(length);
  if (json) {
    std::printf("%s\n", nlohmann::json{{"us_per_op", us}}.dump().c_str());
  } else {
    std::printf("%.3f us an operation, forward + backward\n", us);
  }
  return 0;
}
