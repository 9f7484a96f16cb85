// heed eval: metrics of a trained model over the whole validation set, or over another file.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tools/commands/run.h"
#include "tools/commands/score_tables.h"
#include "tools/terminal/table.h"
#include "train/checkpoint/manifest.h"
#include "train/evaluate.h"
#include "train/files/fingerprint.h"
#include "train/files/human_readable.h"

namespace heed::cli {

namespace {

struct EvalOptions {
  std::string run;
  std::vector<std::string> sets;
  std::string data;
  bool json = false, fingerprint = false;
};

void declare(Arguments& arguments, EvalOptions& o) {
  arguments.run(o.run)
      .option("--set", o.sets, set_of_run)
      .option("--data", o.data, "all of another file, a test set, in place of the validation part")
      .path()
      .threads()
      .flag("--fingerprint", o.fingerprint, "eight characters that differ where any weight does")
      .flag("--json", o.json, "one JSON object on standard output");
}

ScoreTable by_length(const Score& score) {
  ScoreTable table{
      "by_length",
      {{"targets", "targets"}, {"sequences", "sequences"}, {"all right", "exact_match"}},
      {}};
  for (const auto& [length, sequences] : score.by_length) {
    table.rows.push_back({length, sequences.all, share_of(sequences.exact, sequences.all)});
  }
  return table;
}

ScoreTable by_class(const std::vector<std::vector<int64_t>>& confusion, const Task& task) {
  ScoreTable table{"by_class",
                   {{"class", "class"},
                    {"examples", "examples"},
                    {"precision", "precision"},
                    {"recall", "recall"}},
                   {}};
  for (size_t k = 0; k < confusion.size(); ++k) {
    const std::vector<int64_t>& row = confusion[k];
    const int64_t examples = std::accumulate(row.begin(), row.end(), int64_t{0});
    const int64_t answers =
        std::accumulate(confusion.begin(), confusion.end(), int64_t{0},
                        [k](int64_t sum, const std::vector<int64_t>& of) { return sum + of[k]; });
    table.rows.push_back({task.target_name(static_cast<int32_t>(k)), examples,
                          share_of(row[k], answers), share_of(row[k], examples)});
  }
  return table;
}

// by_length: the share of sequences that are all right, by their number of targets. by_class, if
// there are classes: the examples of each; of its answers how many are right (precision); of its
// examples how many are found (recall).
std::vector<ScoreTable> tables_of(const Score& score, const Task& task) {
  std::vector<ScoreTable> tables{by_length(score)};
  if (!score.confusion.empty()) tables.push_back(by_class(score.confusion, task));
  return tables;
}

// Reads the checkpoint alone: neither data nor plugins.
int say_fingerprint(const EvalOptions& o) {
  std::vector<std::string> warnings;
  const RunArgument of = resolve_run(o.run, warnings);
  print_lines(stderr, warnings);
  const std::string letters = fingerprint_file(of.checkpoint / "model.safetensors").letters();
  const int64_t step = read_manifest(of.checkpoint).step;
  if (o.json) {
    print_object(nlohmann::ordered_json{{"step", step}, {"fingerprint", letters}});
  } else {
    print_text(text("weights after step ", grouped(step), ": ", letters, "\n"));
  }
  return 0;
}

using EvalJson = nlohmann::ordered_json;

EvalJson number(std::optional<double> value) { return value ? EvalJson(*value) : EvalJson(); }

// The training metrics are null for a task that has no training examples (a stream), and accuracies
// for one that counts nothing as right.
EvalJson as_json(int64_t step, const std::optional<Evaluation>& training,
                 const Evaluation& validation, const std::vector<ScoreTable>& tables) {
  const Evaluation of_training = training.value_or(Evaluation{});
  EvalJson json{{"step", step},
                {"train_loss", training ? EvalJson(training->loss) : EvalJson()},
                {"train_tokens", training ? EvalJson(training->tokens) : EvalJson()},
                {"val_loss", validation.loss},
                {"tokens", validation.tokens},
                {"bits_per_byte", number(validation.bits_per_byte)},
                {"accuracy", number(validation.accuracy)},
                {"exact_match", number(validation.exact_match)},
                {"train_accuracy", number(of_training.accuracy)},
                {"train_exact_match", number(of_training.exact_match)}};
  for (const ScoreTable& table : tables) {
    json[table.key] = table_json<EvalJson>(table);
  }
  if (!validation.confusion.empty()) {
    json["confusion"] = validation.confusion;
  }
  return json;
}

// Whole sequences count where a sequence is an answer: not a piece of running text, nor a class.
void print(int64_t step, const std::optional<Evaluation>& training, const Evaluation& validation,
           const std::vector<ScoreTable>& tables, const Task& task, const std::string& data) {
  const bool classes = !task.classes().empty(), answers = !classes && !task.continues_prompt();
  std::printf("step         %lld\n", static_cast<long long>(step));
  if (training) {
    std::printf("train loss   %s over %lld targets, of examples evenly spaced\n",
                loss_text(training->loss).c_str(), static_cast<long long>(training->tokens));
  }
  if (!data.empty()) {
    std::printf("data         %s\n", printable_lines(data, "").c_str());
    if (const auto left_out = static_cast<long long>(task.data().left_out()); left_out > 0) {
      std::printf("left out     %lld, longer than the model or data.max_length\n", left_out);
    }
  }
  std::printf("%s     %s over %lld targets\n", data.empty() ? "val loss" : "loss    ",
              loss_text(validation.loss).c_str(), static_cast<long long>(validation.tokens));
  if (validation.bits_per_byte) {
    std::printf("bits a byte  %.4f of text\n", *validation.bits_per_byte);
  }
  if (validation.accuracy && validation.exact_match) {
    std::printf("accuracy     %.2f%% of %s", 100 * *validation.accuracy,
                classes ? "examples" : "targets");
    if (answers) std::printf("; all of a sequence right: %.2f%%", 100 * *validation.exact_match);
    std::printf("\n");
  }
  for (const ScoreTable& table : tables) {
    const std::string lines = answers || table.key != "by_length" ? table_text(table) : "";
    print_text((lines.empty() ? "" : "\n") + lines);
  }
}

int run(const EvalOptions& o) {
  require<ConfigError>(
      !o.fingerprint || (o.data.empty() && o.sets.empty()),
      "heed eval: --fingerprint is of the weights alone; leave --data and --set out");
  if (o.fingerprint) return say_fingerprint(o);
  require<ConfigError>(o.data.empty() || o.sets.empty(), "--data ", printable(o.data),
                       ": takes the place of the run's data; leave --set out");
  const TrainedRun trained =
      load_trained(o.run, o.sets, o.data, o.data.empty() ? Purpose::train : Purpose::test);
  const Task& task = *trained.loaded.task;
  constexpr int64_t of_a_file = 32;  // which may have fewer examples
  const int64_t batch_size = o.data.empty() ? trained.loaded.config.train.batch_size : of_a_file;
  const Split split = o.data.empty() ? Split::validation : Split::train;
  const Evaluation validation = evaluate(*trained.model, task, split, batch_size, {});
  require<ConfigError>(validation.tokens > 0, "--data ", printable(o.data),
                       ": the loss counts no target in it");
  std::optional<Evaluation> training;  // on as many examples, evenly spaced
  if (o.data.empty() && task.data().example_count(Split::train) > 0) {
    training = evaluate_examples(*trained.model, task, Split::train, batch_size,
                                 task.data().example_count(Split::validation));
  }

  const std::vector<ScoreTable> tables = tables_of(validation, task);
  if (o.json) {
    EvalJson json = as_json(trained.state.step, training, validation, tables);
    if (!o.data.empty()) json.update({{"data", o.data}, {"left_out", task.data().left_out()}});
    print_object(json);
  } else {
    print(trained.state.step, training, validation, tables, task, o.data);
  }
  return 0;
}

}  // namespace

Command eval_command() {
  return command<EvalOptions>("eval", "loss and accuracy over the validation set or a file",
                              "heed eval runs/quickstart --json", declare, run, Group::train);
}

}  // namespace heed::cli
