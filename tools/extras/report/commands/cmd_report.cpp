// heed report: the HTML page of one or more runs.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>

#include "layers/text/display.h"
#include "tools/commands/config_file.h"
#include "tools/commands/run.h"
#include "tools/extras/report/animation.h"
#include "tools/extras/report/page.h"
#include "tools/extras/report/pages/output_file.h"
#include "tools/terminal/table.h"
#include "train/files/files.h"

namespace heed::cli {

namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::vector<std::string> runs;
  std::vector<std::string> sets;
  std::optional<std::string> out;
  std::optional<std::string> animate;
  std::string layer;
};

void declare(Arguments& arguments, ReportOptions& o) {
  arguments.positionals("RUN", o.runs, "run folders; several are shown side by side")
      .path()
      .option("--out", o.out, "the page (default: report.html in the run, or here for several)")
      .path()
      .option("--animate", o.animate,
              "write attention as it formed instead, as a picture that moves: map.svg")
      .path()
      .option("--layer", o.layer,
              "with --animate: which layer, trf_blocks.0.att (default: the last)")
      .option("--set", o.sets, set_of_run);
}

// The run folder; for a checkpoint, the run that it belongs to.
fs::path run_folder(const std::string& argument) {
  const RunArgument parsed = parse_run(unpacked(argument));
  require<IoError>(!parsed.is_copy(), argument, ": a checkpoint without its run: metrics.csv is ",
                   "missing, from which a report is made; give the run folder");
  require<IoError>(is_there(parsed.run / "config.yaml"), argument,
                   ": expected a run folder: it has no config.yaml");
  return parsed.run;
}

int animate(const ReportOptions& o) {
  require<ConfigError>(o.runs.size() == 1 && !o.out,
                       "heed report: --animate: expected one run, and no --out");
  require<ConfigError>(o.animate->ends_with(".svg"),
                       "heed report: --animate: expected a name that ends in .svg, got ",
                       printable(*o.animate, 80));
  const fs::path run = run_folder(o.runs[0]);
  const RunTree tree = read_run_tree(run / "config.yaml", o.sets);
  require_replaceable("heed report: --animate", *o.animate, files_named_in(tree.root, run));
  write_file_atomically(*o.animate, attention_animation(read_record(run / "report.json"), o.layer));
  print_line(stdout, written(*o.animate));
  return 0;
}

int run(const ReportOptions& o) {
  require<ConfigError>(o.animate || o.layer.empty(), "heed report: --layer: only with --animate");
  if (o.animate) return animate(o);
  require<ConfigError>(o.runs.size() <= most_runs, "heed report: expected at most ", most_runs,
                       " runs on a page, got ", o.runs.size());
  check_run_sets(o.sets);
  std::vector<fs::path> runs;
  std::transform(o.runs.begin(), o.runs.end(), std::back_inserter(runs), run_folder);
  const fs::path own = own_page(runs[0], "report.html");
  const bool is_own = runs.size() == 1 && (!o.out || same_file(*o.out, own));
  const fs::path out = is_own ? own : fs::path(o.out.value_or("report.html"));
  for (const fs::path& run : is_own ? std::vector<fs::path>() : runs) {
    const RunTree tree = read_run_tree(run / "config.yaml", o.sets);
    require_replaceable("heed report: --out", out, files_named_in(tree.root, run));
  }
  const Links links = is_own ? Links::refuse : Links::follow;
  print_lines(stderr, write_report(runs, out, links, {}, o.sets));
  print_line(stdout, written(out));
  return 0;
}

}  // namespace

Command report_command() {
  return command<ReportOptions>("report", "curves, attention and samples of runs, as one page",
                                "heed report runs/copy runs/reverse --out compare.html", declare,
                                run, Group::look);
}

}  // namespace heed::cli
