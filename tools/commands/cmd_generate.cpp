// heed generate: text written by a trained model.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "autograd/base/rethrow.h"
#include "layers/config/fields.h"
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
  std::optional<double> top_p, min_p;
  double repetition_penalty = 1;
  std::vector<std::string> stops;
  int64_t seed = 123, samples = 1;
  bool json = false, show = false;
  std::optional<std::string> html;
};

using Json = nlohmann::ordered_json;

void declare(Arguments& arguments, GenerateOptions& o) {
  arguments.run(o.run)
      .option("--prompt", o.prompt,
              "the text that the model continues, or answers (default: on a terminal it "
              "asks, else the config's sample.prompt)")
      .option("--ids", o.ids, ids_help)
      .option("--tokens", o.tokens, "of a text: how many tokens it adds (200)", at_least(1))
      .option("--temperature", o.temperature,
              "of a text: below 1 more cautious, above 1 bolder, 0 always the likeliest (0.8)",
              at_least(0))
      .option("--top-k", o.top_k, "choose among the k likeliest", at_least(1))
      .option("--top-p", o.top_p, "choose among the likeliest with sum p",
              in_range(0, 1, Bound::open))
      .option("--min-p", o.min_p, "leave out tokens less likely than p times the likeliest",
              in_range(0, 1))
      .option("--repetition-penalty", o.repetition_penalty,
              "above 1: tokens that the text already has become less likely (1)",
              in_range(1e-6, 1e6))
      .option("--stop", o.stops, "ends the answer before this text; may be repeated")
      .option("--samples", o.samples, "how many answers; number n has the seed SEED + n - 1 (1)",
              at_least(1))
      .option("--seed", o.seed, "of the choices (123)", at_least(0))
      .flag("--json", o.json, "one JSON object: the answers, and for each token the five likeliest")
      .flag("--show", o.show,
            "each token in the colour of its probability, and the next best three")
      .option("--html", o.html, "the same as a page, in this file")
      .path()
      .threads()
      .option("--set", o.sets, set_of_run);
}

void check(const GenerateOptions& o) {
  require<ConfigError>(!o.prompt || !o.ids, "heed generate: --prompt and --ids: give one of them");
  require<ConfigError>(!o.json || !(o.show || o.html),
                       "heed generate: --json and --show or --html: give one of them");
  require<ConfigError>(o.temperature > 0 || !(o.top_k || o.top_p || o.min_p),
                       "heed generate: --top-k, --top-p and --min-p have no effect at temperature ",
                       "0; give --temperature above 0, or leave them out");
  require<ConfigError>(o.temperature > 0 || o.samples <= 1, "heed generate: --samples: all ",
                       o.samples, " are the same at temperature 0; give --temperature above 0");
  require<ConfigError>(!o.ids || o.stops.empty(), "heed generate: expected --stop with --prompt, ",
                       "got --ids");
  require<ConfigError>(std::count(o.stops.begin(), o.stops.end(), "") == 0,
                       "heed generate: expected --stop with a text, got nothing");
}

// A classifier answers with the name of a class.
void require_effect(const GenerateOptions& o, const Task& task) {
  const bool draws = o.top_k || o.top_p || o.min_p || o.repetition_penalty != 1 ||
                     !o.stops.empty() || o.samples > 1;
  require<ConfigError>(task.classes().empty() || !draws, "heed generate: ", o.run,
                       ": answers with a class, the likeliest; leave out --top-k, --top-p, "
                       "--min-p, --repetition-penalty, --stop and --samples");
}

// The prompt given, or else that of the config.
std::string checked_prompt(const GenerateOptions& o, const LoadedRun& loaded) {
  const std::string prompt = o.prompt.value_or(loaded.config.sample.prompt);
  const char* const from = o.prompt ? "--prompt: " : "give --prompt; the config's sample.prompt: ";
  with_place<ConfigError>(text("heed generate: ", from),
                          [&] { loaded.task->check_prompt(prompt); });
  return prompt;
}

// Says how much of a prompt the model does not see.
void warn_of_length(const TrainedRun& run, const std::string& prompt) {
  const Task& task = *run.loaded.task;
  if (!task.continues_prompt() || run.model->signature().unbounded) return;
  const int64_t seen = run.loaded.config.context_length(),
                tokens = std::ssize(task.tokenizer()->encode(prompt));
  if (tokens > seen) {
    print_line(stderr, text("(the prompt has ", tokens, " ", task.tokenizer()->unit(),
                            "s; the model sees the last ", seen, ")"));
  }
}

// A token, and the likeliest at its place: how probable the model finds each, and with what
// probability it is drawn, after the penalty, temperature, top_k, top_p and min_p.
Json as_json(const TokenChoice& choice, const Tokenizer* tokenizer) {
  const std::vector<double> of_model = sampling_weights(choice.logits, {});
  const auto share = [](std::span<const double> weights, size_t id) {
    return weights[id] / std::accumulate(weights.begin(), weights.end(), 0.0);
  };
  const auto entry = [&](size_t id) {
    return Json{{"id", id},
                {"token", token_name(tokenizer, static_cast<int32_t>(id))},
                {"probability", share(of_model, id)},
                {"drawn_with", share(choice.weights, id)}};
  };
  Json token = entry(static_cast<size_t>(choice.id));
  std::vector<size_t> ids = ranking(of_model);
  ids.resize(std::min<size_t>(5, ids.size()));
  std::transform(ids.begin(), ids.end(), std::back_inserter(token["likeliest"]), entry);
  return token;
}

// A model can write any character that it was trained on. A file or pipe gets it unchanged. On a
// terminal, control characters are escaped, as `ls` does with names.
void print_piece(const std::string& piece) {
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  std::fputs((terminal ? printable_lines(piece, "\n\t") : piece).c_str(), stdout);
  std::fflush(stdout);
}

struct Sample {
  uint64_t seed;
  StopStrings stops;
  std::string text = {};
  Json tokens = Json::array();
};

// Goes on from a prompt, or from ids, all of which are written as --ids takes them. Samples are
// made together; the first is printed as it comes.
class Samples {
 public:
  Samples(const TrainedRun& run, const std::string& prompt, const GenerateOptions& o)
      : run_(run), prompt_(prompt), o_(o) {
    if (o.show || o.html) view_ = answer_view(o.run, o.show, o.html);
    for (int64_t k = 0; k < o.samples; ++k) {
      all_.push_back({static_cast<uint64_t>(o.seed) + static_cast<uint64_t>(k), {o.stops}});
    }
  }

  void write() {
    const Task& task = *run_.loaded.task;
    std::vector<AnswerOptions> options;
    for (Sample& sample : all_) options.push_back(options_of(sample));
    if (o_.ids) {
      go_on(input_of_ids(*run_.model, "heed generate: --ids", *o_.ids).ids, options);
    } else {
      // An answer has what is left of a character that the prompt ends in.
      const std::string begin =
          task.continues_prompt() ? TextStream(*task.tokenizer()).push(prompt_) : "";
      for (Sample& sample : all_) say(sample, begin);
      task.answers(*run_.model, prompt_, options);
    }
    finish();
  }

 private:
  bool printed_at_the_end() const { return o_.json || view_; }

  void say(Sample& sample, const std::string& piece) {
    sample.text += piece;
    if (view_ && !sample.tokens.empty()) {
      sample.tokens.back()["text"] = sample.tokens.back().value("text", "") + piece;
    }
    print_piece(printed_at_the_end() || &sample != &all_[0] ? "" : piece);
  }

  AnswerOptions options_of(Sample& sample) {
    const Task& task = *run_.loaded.task;
    std::vector<int64_t> ends = run_.loaded.config.sample.end;
    if (o_.ids && task.end_token()) ends.push_back(*task.end_token());
    const auto watch = [&](const TokenChoice& choice) {
      if (printed_at_the_end()) sample.tokens.push_back(as_json(choice, task.tokenizer()));
    };
    return {.tokens = o_.tokens,
            .sampling = {o_.temperature, o_.top_k, o_.top_p, sample.seed, o_.min_p,
                         o_.repetition_penalty, watch, ends},
            .context_length = run_.loaded.config.context_length(),
            .each = [&](const std::string& piece) { say(sample, sample.stops.push(piece)); },
            .stop = [&] { return sample.stops.reached; }};
  }

  void go_on(const Ids& given, const std::vector<AnswerOptions>& options) {
    std::vector<SamplingOptions> sampling;
    for (const AnswerOptions& of : options) sampling.push_back(of.sampling);
    for (Sample& sample : all_) say(sample, *o_.ids);
    generate(
        *run_.model, {given.data(), given.data() + given.size()}, o_.tokens, sampling,
        options[0].context_length,
        [&](size_t k, int32_t id) { say(all_[k], "," + std::to_string(id)); },
        [](size_t) { return false; });
  }

  void finish() {
    Json json = o_.ids ? Json{{"ids", *o_.ids}} : Json{{"prompt", prompt_}};
    bool lines = false;  // the sample before has several
    for (Sample& sample : all_) {
      say(sample, sample.stops.reached ? "" : sample.stops.waiting);
      if (!printed_at_the_end()) {
        const bool first = &sample == &all_[0];
        print_piece(first ? "\n" : (lines ? "---\n" : "") + sample.text + "\n");
      }
      lines = sample.text.find('\n') != std::string::npos;
      json["samples"].push_back(
          {{"seed", sample.seed}, {"text", sample.text}, {"tokens", sample.tokens}});
    }
    if (o_.json) print_object(json);
    if (view_) view_(json.dump(-1, ' ', false, Json::error_handler_t::replace));
  }

  const TrainedRun& run_;
  const std::string& prompt_;
  const GenerateOptions& o_;
  AnswerView view_;
  std::vector<Sample> all_;
};

// Answers prompts from a terminal, one per line, until Ctrl-D. Prints errors and continues.
void converse(const TrainedRun& trained, const GenerateOptions& o) {
  const auto ask = [] { std::fputs("> ", stderr); };
  ask();
  for (std::string line; std::getline(std::cin, line); ask()) {
    try {
      trained.loaded.task->check_prompt(line);
      warn_of_length(trained, line);
      Samples(trained, line, o).write();
    } catch (const ConfigError& error) {
      print_line(stderr, error.what());
    }
  }
  std::fputs("\n", stderr);
}

int run(const GenerateOptions& o) {
  check(o);
  const TrainedRun trained = load_to_ask(o.run, o.sets);
  if (o.ids) {
    require<ConfigError>(trained.model->signature().causal,
                         "heed generate: --ids: expected a model that continues tokens");
    Samples(trained, "", o).write();
    return 0;
  }
  require_tokenizer(trained, "heed generate: " + o.run);
  require_effect(o, *trained.loaded.task);
  if (!o.prompt && !o.json && !o.html && isatty(STDIN_FILENO) != 0) {
    converse(trained, o);
    return 0;
  }
  const std::string prompt = checked_prompt(o, trained.loaded);
  warn_of_length(trained, prompt);
  Samples(trained, prompt, o).write();
  return 0;
}

}  // namespace

Command generate_command() {
  return command<GenerateOptions>("generate", "what a trained model writes",
                                  "heed generate runs/quickstart --prompt 'ROMEO:' --tokens 300",
                                  declare, run, Group::train);
}

}  // namespace heed::cli
