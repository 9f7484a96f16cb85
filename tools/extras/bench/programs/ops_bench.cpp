// Times parts of a training step on random numbers, forward + backward unless stated otherwise, and
// what the machine can do. Prints one JSON object; times are medians.
//   ops_bench attention --heads 4 --width 64 --length 4096 --dropout 0.1
//   ops_bench layer multi_head_attention --set d_in=768 --set d_out=768 --set num_heads=12
//             --set context_length=1024 --batch 8 --length 1024 --width 768
//   ops_bench chain        multiplications of four numbers: the cost of an operation
//   ops_bench machine      fused multiply-adds, matrix products, memory bandwidth, on all threads
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "autograd/kernels/blas_info.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/scaled_dot_product_attention.h"
#include "autograd/threads/machine.h"
#include "layers/module/registry.h"
#include "tools/extras/bench/gemm_speed.h"
#include "tools/extras/bench/median.h"

namespace {

using namespace heed;
using nlohmann::json;

struct Settings {
  std::string type;                 // of the layer
  std::vector<std::string> fields;  // of it
  int64_t batch = 1, heads = 4, width = 64, length = 4096;
  double dropout = 0;
  int rounds = 10;
};

// The median of `rounds` calls, after one to warm up: it fills the pool and wakes the threads.
template <class Work>
double median_ms(int rounds, const Work& work) {
  work();
  std::vector<double> ms;
  for (int i = 0; i < rounds; ++i) {
    ms.push_back(1e3 * seconds_of(work));
  }
  return median(std::move(ms));
}

Array normal_numbers(const Shape& shape, uint64_t seed) {
  std::mt19937_64 words(seed);
  std::normal_distribution<double> normal;
  Array x = Array::uninitialised(shape);
  for (int64_t i = 0; i < x.size(); ++i) {
    x.mutable_data()[i] = static_cast<real>(normal(words));
  }
  return x;
}

json attention(const Settings& s) {
  const Shape shape{s.batch, s.length, s.heads * s.width};
  std::vector<Tensor> qkv;
  for (const uint64_t seed : {1, 2, 3})
    qkv.push_back(Tensor::parameter(normal_numbers(shape, seed)));
  const Array dy = normal_numbers(shape, 4);
  Generator generator(1);
  AttentionOptions options;
  options.num_heads = s.heads;
  options.causal = true;
  const double ms = median_ms(s.rounds, [&] {
    options.dropout = make_dropout_mask(generator, DropoutStream::mcg31, s.dropout,
                                        s.batch * s.heads * s.length * s.length);
    for (Tensor& input : qkv) input.zero_grad();
    scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], options).backward(dy);
  });
  return {{"forward_backward_ms", ms}};
}

// The forward pass alone runs without a graph.
json layer(const Settings& s) {
  ConfigNode options = ConfigNode::map({});
  for (const std::string& field : s.fields) {
    const size_t equals = field.find('=');
    require<ConfigError>(equals != std::string::npos, "--set: expected NAME=VALUE, got ", field);
    options.set(field.substr(0, equals),
                ConfigNode::scalar(field.substr(equals + 1), /*quoted=*/false));
  }
  const std::unique_ptr<Module> layer = make_layer(s.type, options);
  Tensor x = Tensor::parameter(normal_numbers({s.batch, s.length, s.width}, 1));
  const Array dy = normal_numbers((*layer)(x).shape(), 2);
  const double forward = median_ms(s.rounds, [&] {
    const NoGrad off;
    (*layer)(x);
  });
  const double both = median_ms(s.rounds, [&] {
    x.zero_grad();
    for (const NamedParameter& parameter : layer->parameters()) {
      Tensor(parameter.tensor).zero_grad();
    }
    (*layer)(x).backward(dy);
  });
  return {{"forward_ms", forward}, {"forward_backward_ms", both}};
}

// y = x * f * f * ..., which costs little but the graph.
json chain() {
  constexpr int length = 1000, rounds = 200;
  Tensor x = Tensor::parameter(Array::full({4}, 1));
  const Tensor factor(Array::full({4}, static_cast<real>(0.999)));
  const Array dy = Array::full({4}, 1);
  const double ms = median_ms(rounds, [&] {
    x.zero_grad();
    Tensor y = x;
    for (int i = 0; i < length; ++i) {
      y = y * factor;
    }
    y.backward(dy);
  });
  return {{"us_per_op", 1e3 * ms / length}};
}

constexpr int64_t tasks = 64;

#if defined(__AVX512F__)
constexpr int lanes = 64 / sizeof(real);
#else
constexpr int lanes = 32 / sizeof(real);
#endif
typedef real Vector __attribute__((vector_size(lanes * sizeof(real))));

// Twelve independent chains hide the latency of each. 2 * 12 * lanes * repeats operations in all.
constexpr int chains = 12;
real multiply_add(int64_t repeats, real seed) {
  Vector sums[chains];
  for (int c = 0; c < chains; ++c) {
    sums[c] = Vector{} + seed;
  }
  const Vector factor = Vector{} + static_cast<real>(0.999), addend = Vector{} + seed;
  for (int64_t i = 0; i < repeats; ++i) {
    for (int c = 0; c < chains; ++c) {
      sums[c] = sums[c] * factor + addend;
    }
  }
  Vector total{};
  for (const Vector& sum : sums) {
    total += sum;
  }
  return total[0];
}

double fma_gflops() {
  constexpr int64_t repeats = 100000;
  std::vector<real> results(tasks);
  const double ms = median_ms(7, [&] {
    parallel_for(tasks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        results[static_cast<size_t>(i)] = multiply_add(repeats, static_cast<real>(i + 1));
      }
    });
  });
  return 2.0 * chains * lanes * static_cast<double>(repeats * tasks) / ms / 1e6;
}

// a = b + s c (STREAM triad) over arrays far larger than the caches; counts bytes read and written.
double bandwidth() {
  constexpr int64_t size = 32 * 1024 * 1024;
  const Array b = Array::full({size}, 1), c = Array::full({size}, 2);
  Array a = Array::zeros({size});
  const double ms = median_ms(7, [&] {
    real* out = a.mutable_data();
    const real *x = b.data(), *y = c.data();
    parallel_for(size, size / tasks, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        out[i] = x[i] + static_cast<real>(0.5) * y[i];
      }
    });
  });
  return 3.0 * size * sizeof(real) / ms / 1e6;
}

json machine() {
  const cli::GemmSpeed speed = cli::gemm_speed();
  return {{"fma_gflops", fma_gflops()},
          {"sgemm_gflops", speed.openblas},
          {"product_gflops", speed.heed},
          {"bandwidth_gb_s", bandwidth()}};
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  CLI::App app{"Times parts of a training step, and the machine. Prints one JSON object."};
  app.require_subcommand(1);
  CLI::App* const of_attention = app.add_subcommand("attention", "causal attention alone");
  CLI::App* const of_layer = app.add_subcommand("layer", "any layer");
  app.add_subcommand("chain", "a thousand multiplications of four numbers");
  app.add_subcommand("machine", "multiply-adds, matrix products, memory");
  for (CLI::App* const sized : {of_attention, of_layer}) {
    sized->add_option("--batch", s.batch)->check(CLI::PositiveNumber);
    sized->add_option("--length", s.length, "T")->check(CLI::PositiveNumber);
    sized->add_option("--width", s.width, "of a head, or of x")->check(CLI::PositiveNumber);
    sized->add_option("--rounds", s.rounds)->check(CLI::PositiveNumber);
  }
  of_attention->add_option("--heads", s.heads)->check(CLI::PositiveNumber);
  of_attention->add_option("--dropout", s.dropout)->check(CLI::Range(0.0, 1.0));
  of_layer->add_option("type", s.type, "as `heed layers` names it")->required();
  of_layer->add_option("--set", s.fields, "a field of the layer: d_in=768");
  CLI11_PARSE(app, argc, argv);
  try {
    const std::string what = app.get_subcommands().front()->get_name();
    json result = what == "attention" ? attention(s)
                  : what == "layer"   ? layer(s)
                  : what == "chain"   ? chain()
                                      : machine();
    result["peak_mb"] = static_cast<double>(peak_resident_bytes()) / 1e6;
    result["threads"] = num_threads();
    result["openblas"] = blas_info().kernel;
    std::printf("%s\n", result.dump().c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ops_bench: %s\n", error.what());
    return 1;
  }
}
