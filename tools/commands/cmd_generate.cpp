// heed generate: text written by a trained model.
#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "layers/text/display.h"
#include "tools/commands/run.h"
#include "tools/terminal/table.h"
#include "train/data/generate.h"
#include "train/data/text_stream.h"

namespace heed::cli {

namespace {

struct GenerateOptions {
  std::string run;
  std::vector<std::string> sets;
  std::optional<std::string> prompt, ids;
  int64_t tokens = 200;
  double temperature = 0.8;
  std::optional<int64_t> top_k;
  std::optional<double> top_p;
  int64_t seed = 123;
};

void declare(Arguments& arguments, GenerateOptions& o) {
  arguments.positional("RUN", o.run, "a run folder, or one of its checkpoints/step-* folders")
      .path()
      .option("--prompt", o.prompt,
              "what the model goes on from, or answers (default: on a terminal it "
              "asks, else the config's sample.prompt)")
      .option("--ids", o.ids, ids_help)
      .option("--tokens", o.tokens, "of a text: how many tokens it adds (200)")
      .option("--temperature", o.temperature,
              "of a text: below 1 more cautious, above 1 bolder, 0 always the likeliest (0.8)")
      .option("--top-k", o.top_k, "choose among the k likeliest")
      .option("--top-p", o.top_p, "choose among the likeliest with sum p")
      .option("--seed", o.seed, "of the choices (123)")
      .threads()
      .option("--set", o.sets, set_of_run);
}

void check(const GenerateOptions& o) {
  require<ConfigError>(!o.prompt || !o.ids, "heed generate: --prompt and --ids: give one of them");
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

// The prompt given, or else that of the config.
std::string checked_prompt(const GenerateOptions& o, const LoadedRun& loaded) {
  const std::string prompt = o.prompt.value_or(loaded.config.sample.prompt);
  try {
    loaded.task->check_prompt(prompt);
  } catch (const ConfigError& error) {
    fail<ConfigError>(
        "heed generate: ", o.prompt ? "--prompt: " : "give --prompt; the config's sample.prompt: ",
        error.what());
  }
  return prompt;
}

SamplingOptions sampling_of(const GenerateOptions& o) {
  return {.temperature = o.temperature,
          .top_k = o.top_k,
          .top_p = o.top_p,
          .seed = static_cast<uint64_t>(o.seed)};
}

// Goes on from ids, and prints all of them as --ids takes them.
void continue_ids(const TrainedRun& trained, const GenerateOptions& o) {
  require<ConfigError>(trained.model->signature().causal,
                       "heed generate: --ids: expected a model that goes on from tokens");
  const Ids given = input_of_ids(*trained.model, "heed generate: --ids", *o.ids).ids;
  std::fputs(o.ids->c_str(), stdout);
  generate(*trained.model, {given.data(), given.data() + given.size()}, o.tokens, sampling_of(o),
           trained.loaded.config.context_length(), [](int32_t id) {
             std::printf(",%d", id);
             std::fflush(stdout);
           });
  std::fputs("\n", stdout);
}

void answer(const TrainedRun& trained, const std::string& prompt, const GenerateOptions& o) {
  const Task& task = *trained.loaded.task;
  AnswerOptions options{.tokens = o.tokens,
                        .sampling = sampling_of(o),
                        .context_length = trained.loaded.config.context_length()};
  // A model can write any character that it was trained on. A file or pipe gets it unchanged. On a
  // terminal, control characters are escaped, as `ls` does with names.
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  options.each = [terminal](const std::string& text) {
    std::fputs((terminal ? printable_lines(text, "\n\t") : text).c_str(), stdout);
    std::fflush(stdout);
  };
  if (task.continues_prompt()) {
    options.say(TextStream(*task.tokenizer()).push(prompt));  // the answer has what is left of it
  }
  task.answer(*trained.model, prompt, options);
  options.say("\n");
}

// Answers prompts from a terminal, one per line, until Ctrl-D. Prints errors and continues.
void converse(const TrainedRun& trained, const GenerateOptions& o) {
  const auto ask = [] { std::fputs("> ", stderr); };
  ask();
  for (std::string line; std::getline(std::cin, line); ask()) {
    try {
      trained.loaded.task->check_prompt(line);
      answer(trained, line, o);
    } catch (const ConfigError& error) {
      print_line(stderr, error.what());
    }
  }
  std::fputs("\n", stderr);
}

int run(const GenerateOptions& o) {
  check(o);
  const TrainedRun trained = load_trained(o.run, o.sets);
  if (o.ids) {
    continue_ids(trained, o);
    return 0;
  }
  require_tokenizer(trained, "heed generate: " + o.run);
  if (!o.prompt && isatty(STDIN_FILENO) != 0) {
    converse(trained, o);
    return 0;
  }
  answer(trained, checked_prompt(o, trained.loaded), o);
  return 0;
}

}  // namespace

Command generate_command() {
  return command<GenerateOptions>("generate", "what a trained model writes",
                                  "heed generate runs/quickstart --prompt 'ROMEO:' --tokens 300",
                                  declare, run, Group::train);
}

}  // namespace heed::cli
