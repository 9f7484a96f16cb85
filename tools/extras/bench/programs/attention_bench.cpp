// Times attention alone on random q, k and v, forward and forward + backward:
//   attention_bench --batch 1 --heads 4 --width 64 --length 4096 --dropout 0.1 --json
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "autograd/kernels/blas_info.h"
#include "autograd/ops/scaled_dot_product_attention.h"
#include "autograd/threads/machine.h"
#include "tools/extras/bench/programs/timing.h"

namespace {

using namespace heed;

struct Settings {
  int64_t batch = 1, heads = 4, kv_heads = 0, width = 64, length = 4096;
  int64_t window = 0;
  double dropout = 0;
  bool full = false;  // no causal mask
  bool composed = false;
  bool packed = false;
  bool json = false;
  int threads = 0;
  int rounds = 10;
};

struct Times {
  double forward, both;  // milliseconds
  double cpu;            // CPU ms of all threads, for `both`; more robust on a busy machine
};

class Bench {
 public:
  explicit Bench(const Settings& s) : s_(s), generator_(1) {
    const int64_t kv_heads = s.kv_heads == 0 ? s.heads : s.kv_heads;
    const int64_t columns = s.heads * s.width, kv_columns = kv_heads * s.width;
    if (s.packed) {
      inputs_ = {parameter(columns + 2 * kv_columns, 1)};
    } else {
      inputs_ = {parameter(columns, 1), parameter(kv_columns, 2), parameter(kv_columns, 3)};
    }
    dy_ = bench::normal_numbers({s.batch, s.length, columns}, 4);
  }

  Times round() {
    AttentionOptions options;
    options.num_heads = s_.heads;
    options.num_kv_heads = s_.kv_heads;
    options.causal = !s_.full;
    options.window = s_.window;
    options.dropout = make_dropout_mask(generator_, DropoutStream::mcg31, s_.dropout,
                                        s_.batch * s_.heads * s_.length * s_.length);
    for (Tensor& input : inputs_) {
      input.zero_grad();
    }
    const bench::Stopwatch watch;
    const Tensor y =
        s_.packed ? scaled_dot_product_attention(inputs_[0], options)
        : s_.composed
            ? scaled_dot_product_attention_composed(inputs_[0], inputs_[1], inputs_[2], options)
            : scaled_dot_product_attention(inputs_[0], inputs_[1], inputs_[2], options);
    const double forward = watch.ms();
    y.backward(dy_);
    return {forward, watch.ms(), watch.cpu_ms()};
  }

 private:
  Tensor parameter(int64_t columns, uint64_t seed) const {
    return Tensor::parameter(bench::normal_numbers({s_.batch, s_.length, columns}, seed));
  }

  Settings s_;
  Generator generator_;
  std::vector<Tensor> inputs_;
  Array dy_;
};

void report(const Settings& s, const std::vector<Times>& times, double gigaflop) {
  std::vector<double> forward, both, cpu;
  for (const Times& t : times) {
    forward.push_back(t.forward);
    both.push_back(t.both);
    cpu.push_back(t.cpu);
  }
  const double forward_ms = median(forward), both_ms = median(both), cpu_ms = median(cpu);
  const double best_ms = *std::min_element(both.begin(), both.end());
  if (s.json) {
    const nlohmann::json result = {{"batch", s.batch},
                                   {"heads", s.heads},
                                   {"width", s.width},
                                   {"length", s.length},
                                   {"window", s.window},
                                   {"dropout", s.dropout},
                                   {"causal", !s.full},
                                   {"threads", num_threads()},
                                   {"forward_ms", forward_ms},
                                   {"forward_backward_ms", both_ms},
                                   {"best_ms", best_ms},
                                   {"cpu_ms", cpu_ms},
                                   {"gflops", gigaflop / both_ms * 1e3},
                                   {"peak_mb", static_cast<double>(peak_resident_bytes()) / 1e6},
                                   {"openblas", blas_info().kernel}};
    std::printf("%s\n", result.dump().c_str());
    return;
  }
  std::printf(
      "b %ld, %ld heads of %ld, T %ld, dropout %g, %d threads: forward %.3f ms, "
      "forward + backward %.3f ms (best %.3f, CPU %.3f), %.0f GFLOP/s\n",
      static_cast<long>(s.batch), static_cast<long>(s.heads), static_cast<long>(s.width),
      static_cast<long>(s.length), s.dropout, num_threads(), forward_ms, both_ms, best_ms, cpu_ms,
      gigaflop / both_ms * 1e3);
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  CLI::App app{"Times scaled_dot_product_attention; medians, in milliseconds."};
  app.add_option("--batch", s.batch)->check(CLI::PositiveNumber);
  app.add_option("--heads", s.heads)->check(CLI::PositiveNumber);
  app.add_option("--kv-heads", s.kv_heads, "0: as many as heads");
  app.add_option("--width", s.width, "of a head")->check(CLI::PositiveNumber);
  app.add_option("--length", s.length, "T")->check(CLI::PositiveNumber);
  app.add_option("--window", s.window, "keys that a query sees; 0: all")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--dropout", s.dropout)->check(CLI::Range(0.0, 1.0));
  app.add_option("--threads", s.threads, "0: as many as cores");
  app.add_option("--rounds", s.rounds)->check(CLI::PositiveNumber);
  app.add_flag("--full", s.full, "not causal");
  app.add_flag("--composed", s.composed, "the composed form");
  app.add_flag("--packed", s.packed, "q, k and v in one array");
  app.add_flag("--json", s.json);
  CLI11_PARSE(app, argc, argv);
  if (s.threads > 0) {
    set_num_threads(s.threads);
  }
  return bench::exit_code_of("attention_bench", [&] {
    Bench bench(s);
    bench.round();  // warm-up: fills the pool, wakes the threads
    const int64_t before = flop_count();
    std::vector<Times> times;
    for (int i = 0; i < s.rounds; ++i) {
      times.push_back(bench.round());
    }
    report(s, times, static_cast<double>(flop_count() - before) / s.rounds * 1e-9);
  });
}
