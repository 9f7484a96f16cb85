// heed probe: what the heads of a trained model do, and which of its parts an answer depends on.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "layers/config/fields.h"
#include "layers/config/values.h"
#include "layers/text/display.h"
#include "tools/extras/probe/json.h"
#include "tools/extras/probe/probe_text.h"
#include "tools/extras/probe/question.h"
#include "tools/extras/report/pages/output_file.h"
#include "tools/extras/report/pages/page.h"
#include "tools/terminal/table.h"
#include "train/files/files.h"

namespace heed::cli {

namespace {

const Arguments::Words the_probes{{"heads", "what each head attends to"},
                                  {"lens", "the answer after each block"},
                                  {"ablate", "the loss without each part"},
                                  {"patch", "what restores an answer"},
                                  {"write", "what each part adds to an answer's logit"}};

std::string in_words(const std::vector<std::string>& names, const char* last) {
  std::string words;
  for (size_t i = 0; i < names.size(); ++i) {
    words += (i == 0 ? "" : i + 1 < names.size() ? ", " : last) + names[i];
  }
  return words;
}

// Those of this extra, then those that others add.
Arguments::Words all_probes(const ProbeOptions& o) {
  Arguments::Words all = the_probes;
  for (const auto& of : o.added) {
    const Arguments::Words more = of->probes();
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

std::string names_of_probes(const ProbeOptions& o) {
  std::vector<std::string> names;
  for (const auto& [name, shows] : all_probes(o)) names.push_back(name);
  return in_words(names, " or ");
}

// "; attribute, reach: the text": what an option does for the probes of other extras.
std::string more_help(const ProbeOptions& o, const std::string& option) {
  std::string words;
  for (const auto& added : o.added) {
    for (const Belongs& of : added->options()) {
      words += option == of.option ? "; " + in_words(of.probes, ", ") + ": " + of.help : "";
    }
  }
  return words;
}

void declare(Arguments& arguments, ProbeOptions& o) {
  o.added = probes_registry().make_all();
  arguments.run(o.run)
      .positional("PROBE", o.probe, names_of_probes(o) + "; without it, what each shows", false)
      .offers(all_probes(o))
      .option("--sequences", o.sequences, "heads: sequences of random tokens (default: 8)",
              at_least(1))
      .option(
          "--repeat", o.repeat,
          "heads: length of the random part of a sequence, which comes twice (default: half the "
          "context)",
          at_least(2))
      .option("--seed", o.seed, "heads: of the random tokens (default: that of the run)",
              at_least(0))
      .option("--examples", o.examples,
              "heads: validation examples instead of random tokens" + more_help(o, "--examples"),
              at_least(1))
      .option("--prompt", o.prompt, "lens, write: the text" + more_help(o, "--prompt"))
      .option("--ids", o.ids, text("lens, write: ", ids_help, more_help(o, "--ids")))
      .option("--what", o.what, "ablate: zero (default) or mean, what a part is replaced by")
      .offers({{"zero", ""}, {"mean", ""}})
      .option("--batches", o.batches, "ablate: batches of the validation set (default: all of it)",
              at_least(1))
      .option("--clean", o.clean,
              "patch: the prompt with the right answer; ids without a tokenizer")
      .option("--corrupt", o.corrupt, "patch: a prompt of as many tokens, with another answer")
      .option("--answer", o.answer,
              "patch: the token that answers the clean prompt; write: the token whose logit is "
              "taken apart" +
                  more_help(o, "--answer"))
      .option("--wrong", o.wrong,
              "patch, write: a wrong token; its logit is subtracted" + more_help(o, "--wrong"));
  for (const auto& added : o.added) added->declare(arguments);
  arguments.option("--set", o.sets, set_of_run)
      .threads()
      .option("--html", o.html, "write a page with the result instead of printing it")
      .path()
      .flag("--json", o.json, "one JSON object on standard output");
}

std::vector<Belongs> all_options(const ProbeOptions& o) {
  std::vector<Belongs> all{{"--sequences", o.sequences.has_value(), {"heads"}},
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
                           {"--wrong", o.wrong.has_value(), {"patch", "write"}}};
  for (const auto& added : o.added) {
    for (Belongs& more : added->options()) {
      const auto same = std::find_if(all.begin(), all.end(), [&](const Belongs& of) {
        return std::string(of.option) == more.option;
      });
      if (same == all.end()) {
        all.push_back(std::move(more));
      } else {
        same->probes.insert(same->probes.end(), more.probes.begin(), more.probes.end());
      }
    }
  }
  return all;
}

// Throws ConfigError for an unknown probe, or an option of another one.
void check_options(const ProbeOptions& o) {
  const Arguments::Words probes = all_probes(o);
  Table table({Align::left, Align::left});
  for (const auto& [probe, shows] : probes) table.add({probe, shows});
  require<ConfigError>(!o.probe.empty(), "heed probe: expected a probe; to begin with, heads:\n",
                       table.text("  "));
  require<ConfigError>(std::any_of(probes.begin(), probes.end(),
                                   [&](const auto& each) { return each.first == o.probe; }),
                       "heed probe: expected ", names_of_probes(o), ", got ",
                       printable(o.probe, 40));
  for (const Belongs& of : all_options(o)) {
    const auto own = std::count(of.probes.begin(), of.probes.end(), o.probe);
    require<ConfigError>(!of.given || own > 0, "heed probe: ", of.option, " is an option of ",
                         in_words(of.probes, " and "), ", not of ", o.probe);
  }
  require<ConfigError>(!o.examples || (!o.sequences && !o.repeat && !o.seed),
                       "heed probe: --examples takes no random tokens; leave out --sequences, ",
                       "--repeat and --seed");
}

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
  for (const auto& [name, tokens] : found.prompts) data[name] = tokens;
  for (const auto& [name, token] : found.answers) data[name] = token;
  const std::string words =
      data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string scripts(asset("probe/scripts"));
  for (const auto& added : o.added) scripts += added->scripts();
  return filled(asset("probe/page"), {{"{{style}}", asset("pages/style")},
                                      {"{{data}}", within_script(words)},
                                      {"{{scripts}}", scripts + "buildProbe();\n"}});
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
  const auto [clean, corrupt, clean_names, corrupt_names] = clean_and_corrupt(o, run);
  const probe::Measure measure = measure_of(o, run, "--answer, the token that answers --clean");
  const probe::Patches found = probe::patch(*run.model, clean, corrupt, measure);
  return {to_json(found),
          patches_text(found, clean_names, corrupt_names, style_of_terminal()),
          {{"clean", clean_names}, {"corrupt", corrupt_names}}};
}

Found write(const ProbeOptions& o, const TrainedRun& run) {
  const Task& task = *run.loaded.task;
  const Input in = prompt_of(o, run);
  const auto [answer, wrong] = measure_of(o, run, "--answer, the token whose logit is taken apart");
  const probe::Attribution found = probe::attribute(*run.model, in, {answer, wrong});
  const std::string right = token_name(task.tokenizer(), answer),
                    not_right = wrong ? token_name(task.tokenizer(), *wrong) : "";
  return {to_json(found),
          attribution_text(found, right, not_right, style_of_terminal()),
          {{"prompt", token_names(task.tokenizer(), in.ids)}},
          {{"answer", right}, {"wrong", not_right}}};
}

int run(const ProbeOptions& o) {
  check_options(o);
  const TrainedRun trained = load_to_ask(o.run, o.sets);
  if (o.html) {
    require_replaceable("heed probe: --html", *o.html,
                        files_named_in(trained.loaded.resolved, parse_run(o.run).run));
  }
  for (const auto& added : o.added) {
    if (added->answers(o)) {
      deliver(o, trained, added->answer(o, trained));
      return 0;
    }
  }
  deliver(o, trained,
          o.probe == "heads"    ? heads(o, trained)
          : o.probe == "lens"   ? lens(o, trained)
          : o.probe == "ablate" ? ablate(o, trained)
          : o.probe == "patch"  ? patch(o, trained)
                                : write(o, trained));
  return 0;
}

}  // namespace

Command probe_command() {
  return command<ProbeOptions>("probe", "what heads attend to, and what an answer depends on",
                               "heed probe runs/induction heads", declare, run, Group::take_apart);
}

}  // namespace heed::cli
