// heed data: what the task of a config gives a model, and what it expects as an answer.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "layers/config/fields.h"
#include "tools/commands/run.h"
#include "tools/extras/report/print.h"
#include "tools/terminal/table.h"
#include "train/files/human_readable.h"

namespace heed::cli {

namespace {

using nlohmann::ordered_json;

struct DataOptions {
  std::string config;
  std::vector<std::string> sets;
  int64_t examples = 3;
  bool vocabulary = false;
  bool json = false;
};

void declare(Arguments& arguments, DataOptions& o) {
  arguments.config("CONFIG", o.config, "a config with a data section, or a run")
      .option("--set", o.sets,
              "change a value: --set data.length=8; may be repeated, the last one counts")
      .option("--examples", o.examples, "how many examples of each split are shown (default 3)",
              at_least(0))
      .flag("--vocabulary", o.vocabulary, "list all tokens with their ids")
      .flag("--json", o.json, "one JSON object on standard output");
}

// What a model is given or should answer: tokens without padding, and what they stand for; or
// numbers.
struct Side {
  std::string name, ids_name, values_name;  // "given", "ids", "x"
  std::string words = {};
  std::vector<int32_t> ids = {};
  Array values = {};
};

struct Example {
  Split split = Split::train;
  int64_t number = 0;
  std::vector<Side> sides;
};

std::vector<int32_t> first_of(const Ids& row, int64_t count) {
  return {row.data(), row.data() + std::min(count, row.size())};
}

// The length of a row (1, n) of flags up to the last that is not 0; n if there are no flags.
int64_t unpadded(const Mask& mask, int64_t n) {
  if (!mask || mask.rank() != 2) {
    return n;
  }
  while (n > 0 && mask.data()[n - 1] == 0) {
    --n;
  }
  return n;
}

// The ids by their names; "_" stands for a position that does not count.
template <class Name>
std::string names_of(const std::vector<int32_t>& ids, const Name& name) {
  std::string names;
  for (const int32_t id : ids) {
    names += (names.empty() ? "" : " ") + (id == ignored_target ? std::string("_") : name(id));
  }
  return names;
}

// The ids as a text if they are all of one: "<end>" and other marks are left out of it.
template <class Name>
std::string words_for(const std::vector<int32_t>& ids, const Task& task, const Name& name) {
  const Tokenizer* const tokenizer = task.tokenizer();
  const bool is_running_text = tokenizer != nullptr && task.continues_prompt() &&
                               std::count(ids.begin(), ids.end(), ignored_target) == 0 &&
                               tokenizer->encode(tokenizer->decode(ids)) == ids;
  return is_running_text ? tokenizer->decode(ids) : names_of(ids, name);
}

// The number of tokens before the padding, which the mask hides or which is zeros without targets.
// A window of masked words has none, and no target for most of its tokens.
int64_t length_of(const Batch& batch, const Task& task) {
  const Ids &ids = batch.input.ids, &targets = batch.targets;
  int64_t length = unpadded(batch.input.mask, ids.size());
  const auto last = static_cast<int32_t>(task.model_size("vocab_size")) - 1;
  if (batch.input.mask || token_name(task.tokenizer(), last) == "[MASK]") return length;
  while (targets.size() == ids.size() && length > 1 && ids.data()[length - 1] == 0 &&
         targets.data()[length - 1] == ignored_target) {
    --length;
  }
  return length;
}

// The only example of a batch, without the batch's axis.
Array without_batch(const Array& batch) { return batch.reshaped(batch.shape().without(0)); }

// Numbers as nested lists.
ordered_json json_of(const Array& values, int axis = 0, int64_t at = 0) {
  if (axis == values.rank()) {
    return values.data()[at];
  }
  ordered_json list = ordered_json::array();
  const int64_t step = values.shape().size_between(axis + 1, values.rank());
  for (int64_t i = 0; i < values.dim(axis); ++i) {
    list.push_back(json_of(values, axis + 1, at + i * step));
  }
  return list;
}

Example example_of(const Task& task, Split split, int64_t number) {
  const Batch batch = task.data().examples(split, {number});
  const Input& in = batch.input;
  Side given{"given", "ids", "x"}, answer{"answer", "targets", "y"};
  if (in.ids) {
    given.ids = first_of(in.ids, length_of(batch, task));
    given.words =
        words_for(given.ids, task, [&](int32_t id) { return token_name(task.tokenizer(), id); });
  } else {
    given.values = without_batch(in.x.value());
  }
  if (batch.target_values) {
    answer.values = without_batch(batch.target_values);
  } else if (batch.targets) {
    const bool one_each = batch.targets.size() == in.ids.size();
    answer.ids = first_of(batch.targets, one_each ? std::ssize(given.ids) : batch.targets.size());
    answer.words = words_for(answer.ids, task, [&](int32_t id) { return task.target_name(id); });
  }
  Example example{split, number, {std::move(given), std::move(answer)}};
  if (in.source_ids) {
    Side source{"source", "source_ids", ""};
    source.ids = first_of(in.source_ids, unpadded(in.source_mask, in.source_ids.size()));
    source.words =
        names_of(source.ids, [&](int32_t id) { return token_name(task.source_tokenizer(), id); });
    example.sides.insert(example.sides.begin(), std::move(source));
  }
  return example;
}

std::vector<Example> examples_of(const Task& task, int64_t count) {
  std::vector<Example> examples;
  for (const Split split : {Split::train, Split::validation}) {
    const int64_t available = std::min(count, task.data().example_count(split));
    for (int64_t number = 0; number < available; ++number) {
      examples.push_back(example_of(task, split, number));
    }
  }
  return examples;
}

std::vector<std::string> vocabulary_of(const Tokenizer* tokenizer) {
  std::vector<std::string> names;
  for (int64_t id = 0; tokenizer != nullptr && id < tokenizer->vocab_size(); ++id) {
    names.push_back(tokenizer->name(static_cast<int32_t>(id)));
  }
  return names;
}

const char* name_of(Split split) { return split == Split::train ? "training" : "validation"; }

ordered_json as_json(const LoadedRun& run, const DataOptions& o) {
  const Task& task = *run.task;
  ordered_json object{{"task", run.config.data.type()},
                      {"description", task.description()},
                      {"train_examples", task.data().example_count(Split::train)},
                      {"val_examples", task.data().example_count(Split::validation)},
                      {"training_tokens", task.data().training_tokens()}};
  for (const auto& [name, size] : task.model_sizes()) {
    object[name] = size;
  }
  object["output_size"] = task.output_size();
  if (o.vocabulary) {
    object["vocabulary"] = vocabulary_of(task.tokenizer());
    if (task.source_tokenizer() != nullptr) {
      object["source_vocabulary"] = vocabulary_of(task.source_tokenizer());
    }
  }
  object["examples"] = ordered_json::array();
  for (const Example& example : examples_of(task, o.examples)) {
    ordered_json one{{"split", name_of(example.split)}, {"number", example.number}};
    for (const Side& side : example.sides) {
      if (side.values) {
        one[side.values_name] = json_of(side.values);
      } else {
        one[side.name] = side.words;
        one[side.ids_name] = side.ids;
      }
    }
    object["examples"].push_back(std::move(one));
  }
  return object;
}

void print_example(const Example& example) {
  print_line(stdout, text("\n", name_of(example.split), " example ", example.number));
  Table table({Align::left, Align::left});
  for (const Side& side : example.sides) {
    if (side.values) {
      std::istringstream lines(printed(side.values));
      std::string label = side.name;
      for (std::string line; std::getline(lines, line); label.clear()) {
        table.add({label, line});
      }
    } else if (!side.ids.empty()) {
      table.add({side.name, side.words});
      table.add({"", names_of(side.ids, [](int32_t id) { return std::to_string(id); })});
    }
  }
  print_text(table.text("  "));
}

void print_vocabulary(const char* title, const Tokenizer* tokenizer) {
  if (tokenizer == nullptr) {
    return;
  }
  print_line(stdout, text("\n", title, ", ", grouped(tokenizer->vocab_size()), " tokens"));
  Table table({Align::right, Align::left});
  const std::vector<std::string> names = vocabulary_of(tokenizer);
  for (size_t id = 0; id < names.size(); ++id) {
    table.add({std::to_string(id), names[id]});
  }
  print_text(table.text("  "));
}

void print(const LoadedRun& run, const DataOptions& o) {
  const Task& task = *run.task;
  print_line(stdout, task.description());
  Table table({Align::left, Align::right});
  for (const Split split : {Split::train, Split::validation}) {
    table.add(
        {text("fixed ", name_of(split), " examples"), grouped(task.data().example_count(split))});
  }
  if (task.data().training_tokens() > 0) {
    table.add({"training tokens", grouped(task.data().training_tokens())});
  }
  for (const auto& [name, size] : task.model_sizes()) {
    table.add({"model." + name, grouped(size)});
  }
  print_text(table.text("  "));
  for (const Example& example : examples_of(task, o.examples)) {
    print_example(example);
  }
  if (o.vocabulary) {
    print_vocabulary("vocabulary of the source", task.source_tokenizer());
    print_vocabulary("vocabulary", task.tokenizer());
  }
}

int run(const DataOptions& o) {
  const std::filesystem::path given = o.config, own = given / "config.yaml";
  const std::filesystem::path config = is_there(own) ? own : given;
  RunTree tree = read_run_tree(config, o.sets);
  require_precision_of(tree);
  const LoadedRun loaded = load_run(std::move(tree), config.parent_path());
  require<ConfigError>(!o.vocabulary || (loaded.task && loaded.task->tokenizer() != nullptr),
                       "--vocabulary: the task ", loaded.config.data.type(), " has no tokens");
  if (o.json) {
    print_object(as_json(loaded, o));
  } else {
    print(loaded, o);
  }
  return 0;
}

}  // namespace

Command data_command() {
  return command<DataOptions>("data", "what a model is given and what it should answer",
                              "heed data negation --examples 5", declare, run, Group::train);
}

}  // namespace heed::cli
