// heed report: the page of one run, or of several side by side.
#include <cstdio>
#include <filesystem>

#include "tools/command.h"
#include "train/report/page.h"

namespace heed::cli {

namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::vector<std::string> runs;
  std::optional<std::string> out;
};

void declare(Arguments& arguments, ReportOptions& o) {
  arguments.positionals("RUN", o.runs, "run folders; several are shown side by side")
      .option("--out", o.out, "the page (default: report.html in the run, or here for several)");
}

int run(const ReportOptions& o) {
  require<ConfigError>(o.runs.size() <= most_runs, "heed report: expected at most ", most_runs,
                       " runs on a page, got ", o.runs.size());
  for (const std::string& folder : o.runs) {
    require<IoError>(fs::exists(fs::path(folder) / "config.yaml"), folder,
                     ": expected a run folder: it has no config.yaml");
  }
  const fs::path here = o.runs.size() > 1 ? "report.html" : fs::path(o.runs[0]) / "report.html";
  const fs::path out = o.out ? fs::path(*o.out) : here;
  const std::vector<fs::path> runs(o.runs.begin(), o.runs.end());
  write_report(runs, out);
  std::printf("%s\n", out.c_str());
  return 0;
}

}  // namespace

Command report_command() {
  return command<ReportOptions>("report", "curves, attention and samples of runs, as one page",
                                "heed report runs/copy runs/reverse --out compare.html", declare,
                                run);
}

}  // namespace heed::cli
