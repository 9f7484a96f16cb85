// heed probe: what the heads of a trained model do, and which of its parts an answer depends on.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "autograd/base/rethrow.h"
#include "layers/config/values.h"
#include "tools/commands/run.h"
#include "tools/extras/probe/json.h"
#include "tools/extras/probe/probe_text.h"
#include "tools/extras/report/pages/answer.h"
#include "tools/extras/report/pages/output_file.h"
#include "tools/extras/report/pages/page.h"
#include "tools/terminal/table.h"
#include "train/files/files.h"

namespace heed::cli {

namespace {

struct ProbeOptions {
  std::string run, probe;
  std::optional<int64_t> examples, sequences, repeat, seed, batches;
  std::optional<std::string> prompt, ids, what, clean, corrupt, answer, wrong;
  std::optional<std::string> html;
  std::vector<std::string> sets;
  bool json = false;
};

const Arguments::Words the_probes{{"heads", "what each head attends to"},
                                  {"lens", "the answer after each block"},
                                  {"ablate", "the loss without each part"},
                                  {"patch", "what restores an answer"},
                                  {"write", "what each part adds to an answer's logit"}};

void declare(Arguments& arguments, ProbeOptions& o) {
  arguments.run(o.run)
      .positional("PROBE", o.probe,
                  "heads, lens, ablate, patch or write; without it, what each shows", false)
      .offers(the_probes)
      .option("--sequences", o.sequences, "heads: sequences of random tokens (default: 8)")
      .option(
          "--repeat", o.repeat,
          "heads: length of the random part of a sequence, which comes twice (default: half the "
          "context)")
      .option("--seed", o.seed, "heads: of the random tokens (default: that of the run)")
      .option("--examples", o.examples, "heads: validation examples instead of random tokens")
      .option("--prompt", o.prompt, "lens, write: the text")
      .option("--ids", o.ids, text("lens, write: ", ids_help))
      .option("--what", o.what, "ablate: zero (default) or mean, what a part is replaced by")
      .offers({{"zero", ""}, {"mean", ""}})
      .option("--batches", o.batches, "ablate: batches of the validation set (default: all of it)")
      .option("--clean", o.clean,
              "patch: the prompt with the right answer; ids without a tokenizer")
      .option("--corrupt", o.corrupt, "patch: a prompt of as many tokens, with another answer")
      .option("--answer", o.answer,
              "patch: the token that answers the clean prompt; write: the token whose logit is "
              "taken apart")
      .option("--wrong", o.wrong, "patch, write: a wrong token; its logit is subtracted")
      .option("--set", o.sets, set_of_run)
      .threads()
      .option("--html", o.html, "write a page with the result instead of printing it")
      .path()
      .flag("--json", o.json, "one JSON object on standard output");
}

// An option, whether it is given, and the probes it belongs to.
struct Belongs {
  const char* option;
  bool given;
  std::vector<std::string> probes;
};

// Throws ConfigError for an unknown probe, or an option of another one.
void check_options(const ProbeOptions& o) {
  Table table({Align::left, Align::left});
  for (const auto& [probe, shows] : the_probes) table.add({probe, shows});
  require<ConfigError>(!o.probe.empty(), "heed probe: expected a probe; to begin with, heads:\n",
                       table.text("  "));
  require<ConfigError>(std::any_of(the_probes.begin(), the_probes.end(),
                                   [&](const auto& each) { return each.first == o.probe; }),
                       "heed probe: expected heads, lens, ablate, patch or write, got ",
                       printable(o.probe, 40));
  for (const Belongs& of : {Belongs{"--sequences", o.sequences.has_value(), {"heads"}},
                            {"--repeat", o.repeat.has_value(), {"heads"}},
                            {"--seed", o.seed.has_value(), {"heads"}},
                            {"--examples", o.examples.has_value(), {"heads"}},
                            {"--prompt", o.prompt.has_value(), {"lens", "write"}},
                            {"--ids", o.ids.has_value(), {"lens", "write"}},
                            {"--what", o.what.has_value(), {"ablate"}},
                            {"--batches", o.batches.has_value(), {"ablate"}},
                            {"--clean", o.clean.has_value(), {"patch"}},
                            {"--corrupt", o.corrupt.has_value(), {"patch"}},
                            {"--answer", o.answer.has_value(), {"patch", "write"}},
                            {"--wrong", o.wrong.has_value(), {"patch", "write"}}}) {
    const auto own = std::count(of.probes.begin(), of.probes.end(), o.probe);
    require<ConfigError>(!of.given || own > 0, "heed probe: ", of.option, " is an option of ",
                         of.probes.front(), of.probes.size() > 1 ? " and " + of.probes.back() : "",
                         ", not of ", o.probe);
  }
  for (const auto& [option, value] : {std::pair{"--sequences", o.sequences},
                                      {"--repeat", o.repeat},
                                      {"--batches", o.batches},
                                      {"--examples", o.examples}}) {
    require<ConfigError>(!value || *value >= 1, "heed probe: expected ", option,
                         " at least 1, got ", value.value_or(0));
  }
  require<ConfigError>(o.seed.value_or(0) >= 0, "heed probe: expected --seed at least 0, got ",
                       o.seed.value_or(0));
  require<ConfigError>(!o.examples || (!o.sequences && !o.repeat && !o.seed),
                       "heed probe: --examples takes no random tokens; leave out --sequences, ",
                       "--repeat and --seed");
}

// The value of an option that the probe needs.
const std::string& needed(const ProbeOptions& o, const std::optional<std::string>& value,
                          const char* option) {
  require<ConfigError>(value.has_value(), "heed probe: ", o.probe, " needs ", option);
  return *value;
}

// The column of the logits that stands for a token or, of a classifier, a class. Without a
// tokenizer `answer` is an id.
int32_t column_of(const TrainedRun& run, const char* option, const std::string& answer) {
  const Task& task = *run.loaded.task;
  if (task.tokenizer() == nullptr) {
    return input_of_ids(*run.model, text("heed probe: ", option), answer).ids.data()[0];
  }
  const int64_t columns = task.output_size();
  for (int32_t id = 0; id < columns; ++id) {
    if (task.target_name(id) == answer) {
      return id;
    }
  }
  const bool classes = columns != task.tokenizer()->vocab_size();
  std::vector<std::string> names;
  for (int32_t id = 0; classes && id < std::min<int64_t>(columns, 20); ++id) {
    names.push_back(task.target_name(id));
  }
  require<ConfigError>(!classes, "heed probe: ", option, ": expected a class, ", joined(names),
                       ", got ", printable(answer, 40));
  const std::vector<int32_t> ids = with_place<ConfigError>(
      text("heed probe: ", option, ": "), [&] { return task.tokenizer()->encode(answer); });
  require<ConfigError>(ids.size() == 1, "heed probe: ", option, ": expected one token, got ",
                       ids.size(), ": ", tokens_text(token_names(task.tokenizer(), ids)));
  return ids.front();
}

// What a probe has found. `prompts`: for a page, {"clean": [tokens], "corrupt": [tokens]} or so.
struct Found {
  std::string json, text;
  nlohmann::ordered_json prompts = nlohmann::ordered_json::object();
};

// The page of a probe. Its data: {"probe", "run", "step", "version", "result"}, for patch the
// tokens of both prompts, {"clean", "corrupt"}, and for write {"prompt", "answer", "wrong"};
// result: as `heed probe --json`.
std::string page_of(const ProbeOptions& o, const TrainedRun& run, const Found& found) {
  namespace fs = std::filesystem;
  const fs::path folder = parse_run(o.run).run;
  nlohmann::ordered_json data{{"probe", o.probe},
                              {"run", fs::weakly_canonical(folder).filename().string()},
                              {"step", run.state.step},
                              {"version", HEED_VERSION},
                              {"result", nlohmann::ordered_json::parse(found.json)}};
  data.update(found.prompts);
  const std::string words =
      data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return filled(asset("probe/page"), {{"{{style}}", asset("pages/style")},
                                      {"{{data}}", within_script(words)},
                                      {"{{scripts}}", asset("probe/scripts")}});
}

void deliver(const ProbeOptions& o, const TrainedRun& run, const Found& found) {
  if (o.html) {
    write_file_atomically(*o.html, page_of(o, run, found), Links::follow);
  }
  if (o.json) {
    std::printf("%s\n", found.json.c_str());
  } else if (o.html) {
    print_line(stdout, written(*o.html));
  } else {
    std::printf("%s", found.text.c_str());
  }
}

Found heads(const ProbeOptions& o, const TrainedRun& run) {
  Module& model = *run.model;
  std::optional<int64_t> repeat;
  Input in;
  if (o.examples) {
    const Task& task = *run.loaded.task;
    const int64_t available = task.data().example_count(Split::validation);
    require<ConfigError>(*o.examples <= available, "heed probe: expected --examples at most ",
                         available, ", as many as the validation set has, got ", *o.examples);
    std::vector<int64_t> first(static_cast<size_t>(*o.examples));
    std::iota(first.begin(), first.end(), 0);
    in = task.data().examples(Split::validation, first).input;
  } else {
    repeat = o.repeat.value_or(probe::default_repeat(model));
    const auto seed =
        static_cast<uint64_t>(o.seed.value_or(static_cast<int64_t>(run.loaded.config.seed)));
    in = probe::repeated_tokens(model, o.sequences.value_or(probe::default_sequences), *repeat,
                                seed);
    probe::require_heads(model, in, "heed probe: heads");
    const auto sizes = run.loaded.task->model_sizes();
    const bool classes = std::any_of(sizes.begin(), sizes.end(),
                                     [](const auto& size) { return size.first == "num_classes"; });
    require<ConfigError>(
        !classes, "heed probe: heads: ", o.run, " answers with a class: repeated ",
        "random tokens mean nothing to it; --examples ",
        std::min<int64_t>(50, run.loaded.task->data().example_count(Split::validation)),
        " asks what its heads do on examples");
  }
  const probe::HeadScores scores = probe::score_heads(model, in, repeat);
  return {to_json(scores), heads_text(scores)};
}

// What the model reads for a prompt, which is ids where it has no tokenizer.
Input read_of(const TrainedRun& run, const std::string& option, const std::string& prompt) {
  return run.loaded.task->tokenizer() == nullptr ? input_of_ids(*run.model, option, prompt)
                                                 : answer_to(run, option, prompt).shown;
}

// What the model reads for --prompt or --ids.
Input prompt_of(const ProbeOptions& o, const TrainedRun& run) {
  require<ConfigError>(!o.prompt || !o.ids, "heed probe: --prompt and --ids: give one of them");
  return o.ids ? input_of_ids(*run.model, "heed probe: --ids", *o.ids)
               : answer_to(run, "heed probe: --prompt",
                           needed(o, o.prompt, "--prompt, the text to read"))
                     .shown;
}

// The columns of --answer and --wrong.
probe::Measure measure_of(const ProbeOptions& o, const TrainedRun& run, const char* what) {
  const int32_t right = column_of(run, "--answer", needed(o, o.answer, what));
  const std::optional<int32_t> wrong =
      o.wrong ? std::optional(column_of(run, "--wrong", *o.wrong)) : std::nullopt;
  require<ConfigError>(wrong != right, "heed probe: --wrong: expected another token than --answer");
  return {right, wrong};
}

Found lens(const ProbeOptions& o, const TrainedRun& run) {
  const Input in = prompt_of(o, run);
  const probe::Lens found = probe::logit_lens(*run.model, in);
  return {to_json(found, *run.loaded.task),
          lens_text(found, *run.loaded.task, style_of_terminal())};
}

Found ablate(const ProbeOptions& o, const TrainedRun& run) {
  const std::string what = o.what.value_or("zero");
  require<ConfigError>(what == "zero" || what == "mean",
                       "heed probe: expected --what zero or mean, got ", printable(what, 40));
  const probe::Ablations found = probe::ablate(
      *run.model, *run.loaded.task, what == "mean" ? probe::Ablation::mean : probe::Ablation::zero,
      run.loaded.config.train.batch_size, o.batches);
  return {to_json(found), ablations_text(found)};
}

Found patch(const ProbeOptions& o, const TrainedRun& run) {
  const Task& task = *run.loaded.task;
  const Input clean =
      read_of(run, "heed probe: --clean", needed(o, o.clean, "--clean, the prompt"));
  const Input corrupt = read_of(run, "heed probe: --corrupt",
                                needed(o, o.corrupt, "--corrupt, a prompt with another answer"));
  const std::vector<std::string> clean_names = token_names(task.tokenizer(), clean.ids);
  const std::vector<std::string> corrupt_names = token_names(task.tokenizer(), corrupt.ids);
  require<ConfigError>(clean_names.size() == corrupt_names.size() || clean.source_ids,
                       "heed probe: patch: expected prompts of the same length, got ",
                       clean_names.size(), " tokens, ", tokens_text(clean_names), ", and ",
                       corrupt_names.size(), ", ", tokens_text(corrupt_names));
  const probe::Measure measure = measure_of(o, run, "--answer, the token that answers --clean");
  const probe::Patches found = probe::patch(*run.model, clean, corrupt, measure);
  return {to_json(found),
          patches_text(found, clean_names, corrupt_names, style_of_terminal()),
          {{"clean", clean_names}, {"corrupt", corrupt_names}}};
}

Found attribute(const ProbeOptions& o, const TrainedRun& run) {
  const Task& task = *run.loaded.task;
  const Input in = prompt_of(o, run);
  const auto [answer, wrong] = measure_of(o, run, "--answer, the token whose logit is taken apart");
  const probe::Attribution found = probe::attribute(*run.model, in, {answer, wrong});
  const std::string right = token_name(task.tokenizer(), answer),
                    not_right = wrong ? token_name(task.tokenizer(), *wrong) : "";
  return {
      to_json(found),
      attribution_text(found, right, not_right, style_of_terminal()),
      {{"prompt", token_names(task.tokenizer(), in.ids)}, {"answer", right}, {"wrong", not_right}}};
}

int run(const ProbeOptions& o) {
  check_options(o);
  const TrainedRun trained = load_to_ask(o.run, o.sets);
  if (o.html) {
    require_replaceable("heed probe: --html", *o.html,
                        files_named_in(trained.loaded.resolved, parse_run(o.run).run));
  }
  deliver(o, trained,
          o.probe == "heads"    ? heads(o, trained)
          : o.probe == "lens"   ? lens(o, trained)
          : o.probe == "ablate" ? ablate(o, trained)
          : o.probe == "patch"  ? patch(o, trained)
                                : attribute(o, trained));
  return 0;
}

}  // namespace

Command probe_command() {
  return command<ProbeOptions>("probe", "what heads attend to, and what an answer depends on",
                               "heed probe runs/induction heads", declare, run, Group::take_apart);
}

}  // namespace heed::cli
