// Times one generated token, and measures what a model keeps of the tokens before it, for softmax
// attention and for the layers whose state has a fixed size. Prints rows of a Markdown table:
//   token_bench --tokens 64 256 1024 4096
//   token_bench --attention linear_attention --tokens 65536
// The model is a GPT of 4 layers, 4 heads and width 128, with random weights. Times are the fastest
// of all: what else runs on the machine can only add to them.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>

#include "autograd/array/storage.h"
#include "layers/module/cache.h"
#include "layers/module/evaluation_mode.h"
#include "layers/module/registry.h"
#include "tools/wings/bench/programs/timing.h"

namespace {

using namespace heed;

constexpr int64_t timed_tokens = 32;
constexpr int64_t vocab_size = 65;

struct Settings {
  std::vector<std::string> attention{"multi_head_attention", "linear_attention",
                                     "rwkv_time_mixing"};
  std::vector<int64_t> tokens{64, 256, 1024, 4096};
  int rounds = 10;
};

std::unique_ptr<Module> gpt_with(const std::string& attention, int64_t context_length) {
  ConfigNode options = ConfigNode::map({});
  const auto set = [&](const char* name, int64_t value) {
    options.set(name, ConfigNode::scalar(std::to_string(value), /*quoted=*/false));
  };
  set("vocab_size", vocab_size);
  set("context_length", context_length);
  set("d_model", 128);
  set("num_heads", 4);
  set("num_layers", 4);
  options.set("attention",
              ConfigNode::map({{"type", ConfigNode::scalar(attention, /*quoted=*/false)}}));
  return make_layer("gpt", options);
}

struct Token {
  double ms = std::numeric_limits<double>::infinity();
  int64_t state_bytes = 0;  // of the cache
};

// Reads tokens [begin, end) of a text of nothing but token 1.
void read(Module& model, int64_t begin, int64_t end, Cache& cache) {
  Ids ids = Ids::uninitialised({1, end - begin});
  std::fill_n(ids.mutable_data(), ids.size(), 1);
  Input in(std::move(ids));
  in.cache = &cache;
  model(in);
  cache.advance(end - begin);
}

// The last `timed_tokens` of `tokens` tokens, one by one.
Token measure(Module& model, int64_t tokens, int rounds) {
  const EvaluationMode mode(model);
  Token result;
  for (int round = 0; round < rounds; ++round) {
    const int64_t before = pool::stats().live_bytes;
    Cache cache(tokens);
    read(model, 0, tokens - timed_tokens, cache);
    for (int64_t t = tokens - timed_tokens; t < tokens; ++t) {
      const double seconds = seconds_of([&] { read(model, t, t + 1, cache); });
      result.ms = std::min(result.ms, 1e3 * seconds);
    }
    result.state_bytes = pool::stats().live_bytes - before;
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  CLI::App app{"Times a generated token after others; the fastest, in milliseconds."};
  app.add_option("--attention", s.attention, "layers, as `heed layers` names them");
  app.add_option("--tokens", s.tokens, "T")->check(CLI::Range(timed_tokens + 1, int64_t{1} << 20));
  app.add_option("--rounds", s.rounds)->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  return bench::exit_code_of("token_bench", [&] {
    std::string head = "| T |", line = "|---:|";
    for (const std::string& attention : s.attention) {
      head += text(" `", attention, "`: ms | KB |");
      line += "---:|---:|";
    }
    std::printf("%s\n%s\n", head.c_str(), line.c_str());
    for (const int64_t tokens : s.tokens) {
      std::printf("| %ld |", static_cast<long>(tokens));
      for (const std::string& attention : s.attention) {
        const Token token = measure(*gpt_with(attention, tokens), tokens, s.rounds);
        std::printf(" %.3f | %.0f |", token.ms, static_cast<double>(token.state_bytes) / 1000);
      }
      std::printf("\n");
    }
  });
}
