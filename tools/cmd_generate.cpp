// heed generate: what a trained model writes.
#include <cstdio>

#include "tools/run.h"
#include "train/generate.h"

namespace heed::cli {

namespace {

struct GenerateOptions {
  std::string run;
  std::optional<std::string> prompt;
  int64_t tokens = 200;
  double temperature = 0.8;
  std::optional<int64_t> top_k;
  std::optional<double> top_p;
  int64_t seed = 123;
};

void declare(Arguments& arguments, GenerateOptions& o) {
  arguments.positional("RUN", o.run, "a run folder, or one of its checkpoints/step-* folders")
      .option("--prompt", o.prompt, "what the model goes on from (default: the config's)")
      .option("--tokens", o.tokens, "how many tokens it adds (200)")
      .option("--temperature", o.temperature, "below 1 bolder, 0 always the likeliest (0.8)")
      .option("--top-k", o.top_k, "choose among the k likeliest")
      .option("--top-p", o.top_p, "choose among the likeliest with sum p")
      .option("--seed", o.seed, "of the choices (123)");
}

void check(const GenerateOptions& o) {
  require<ConfigError>(o.tokens >= 1, "heed generate: expected --tokens of at least 1, got ",
                       o.tokens);
  require<ConfigError>(o.temperature >= 0, "heed generate: expected --temperature of at least 0, ",
                       "got ", o.temperature);
  require<ConfigError>(!o.top_k || *o.top_k >= 1, "heed generate: expected --top-k of at least 1, ",
                       "got ", o.top_k.value_or(0));
  require<ConfigError>(!o.top_p || (*o.top_p > 0 && *o.top_p <= 1),
                       "heed generate: expected --top-p above 0 and at most 1, got ",
                       o.top_p.value_or(0));
  require<ConfigError>(o.seed >= 0, "heed generate: expected --seed of at least 0, got ", o.seed);
}

std::vector<int32_t> encode(const Tokenizer& tokenizer, const std::string& prompt) {
  std::vector<int32_t> ids;
  try {
    ids = tokenizer.encode(prompt);
  } catch (const ConfigError& error) {
    fail<ConfigError>("heed generate: --prompt: ", error.what());
  }
  require<ConfigError>(!ids.empty(), "heed generate: expected --prompt with at least one ",
                       "character, got none");
  return ids;
}

int run(const GenerateOptions& o) {
  check(o);
  const TrainedRun trained = load_trained(o.run);
  const Tokenizer* tokenizer = trained.loaded.task->tokenizer();
  require<ConfigError>(tokenizer != nullptr, "heed generate: ", o.run, " was trained on ",
                       trained.loaded.config.data.type, ", which has no text to go on from");
  const std::string prompt = o.prompt.value_or(trained.loaded.config.sample.prompt);
  const std::vector<int32_t> ids = encode(*tokenizer, prompt);
  const SamplingOptions options{.temperature = o.temperature,
                                .top_k = o.top_k,
                                .top_p = o.top_p,
                                .seed = static_cast<uint64_t>(o.seed)};
  std::fputs(prompt.c_str(), stdout);
  TextStream stream(*tokenizer);
  generate(*trained.model, ids, o.tokens, options, trained.loaded.config.context_length(),
           [&](int32_t id) {
             std::fputs(stream.push(id).c_str(), stdout);
             std::fflush(stdout);
           });
  std::fputs((stream.finish() + "\n").c_str(), stdout);
  return 0;
}

}  // namespace

Command generate_command() {
  return command<GenerateOptions>("generate", "what a trained model writes",
                                  "heed generate runs/quickstart --prompt 'ROMEO:' --tokens 300",
                                  declare, run);
}

}  // namespace heed::cli
