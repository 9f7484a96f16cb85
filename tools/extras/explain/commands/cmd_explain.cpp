// heed explain: one forward pass of a trained model, taken apart on a page.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "layers/config/fields.h"
#include "tools/extras/explain/added_page.h"
#include "tools/extras/report/pages/answer.h"
#include "tools/extras/report/pages/output_file.h"
#include "tools/terminal/table.h"
#include "train/files/files.h"

namespace heed::cli {

namespace {

struct ExplainOptions {
  std::string run;
  std::optional<std::string> prompt, ids;
  std::optional<int64_t> tokens;
  std::optional<std::string> out;
  std::vector<std::string> sets;
  bool whole = false;
  std::vector<std::unique_ptr<AddedPage>> added;
};

void declare(Arguments& arguments, ExplainOptions& o) {
  arguments.run(o.run)
      .option("--prompt", o.prompt,
              "what the model reads (default: the config's sample.prompt, or an example)")
      .option("--ids", o.ids, ids_help)
      .option("--tokens", o.tokens,
              "how far the page can follow what the model would write: so many tokens (12)",
              in_range(0, 1000))
      .option("--out", o.out, "the page (default: explain.html in the run)")
      .path()
      .option("--set", o.sets, set_of_run)
      .threads()
      .flag("--whole", o.whole,
            "keep all weights exactly, in a page that may get long; otherwise those of large "
            "matrices are rounded, or left out, so that it stays below 3 MB");
  o.added = explain_pages_registry().make_all();
  for (const auto& each : o.added) each->declare(arguments);
}

int run(const ExplainOptions& o) {
  namespace fs = std::filesystem;
  const int64_t tokens = o.tokens.value_or(12);
  const auto asked_for = std::find_if(o.added.begin(), o.added.end(),
                                      [](const auto& each) { return each->is_asked(); });
  const AddedPage* const added = asked_for == o.added.end() ? nullptr : asked_for->get();
  require<ConfigError>(added == nullptr || !o.tokens, "heed explain: --tokens has no effect on ",
                       "that page; leave it out");
  if (added != nullptr) added->prepare();
  const TrainedRun trained = load_to_ask(o.run, o.sets);
  const fs::path folder = parse_run(o.run).run;
  const fs::path out = o.out ? fs::path(*o.out) : own_page(folder, "explain.html");
  require_replaceable("heed explain: --out", out, files_named_in(trained.loaded.resolved, folder));
  require<ConfigError>(!o.prompt || !o.ids, "heed explain: --prompt and --ids: give one of them");
  const Exhibit shown = asked(trained, "heed explain", o.prompt, o.ids);
  const Task& task = *trained.loaded.task;
  const bool apart = task.tokenizer() != nullptr && !task.continues_prompt();
  const explain::Explained of{.run = fs::weakly_canonical(folder).filename().string(),
                              .step = trained.state.step,
                              .prompt = shown.prompt,
                              .answer = apart ? shown.answer : "",
                              .tokens = tokens,
                              .context = trained.loaded.config.context_length(),
                              .whole = o.whole};
  const std::string page = added != nullptr
                               ? added->page(trained, shown.shown, of)
                               : explain::explain_page(*trained.model, task, shown.shown, of);
  write_file_atomically(out, page, o.out ? Links::follow : Links::refuse);
  print_line(stdout, written(out));
  return 0;
}

}  // namespace

Command explain_command() {
  return command<ExplainOptions>("explain", "one prediction taken apart, on a page",
                                 "heed explain runs/quickstart --prompt 'ROMEO:'", declare, run,
                                 Group::look);
}

}  // namespace heed::cli
