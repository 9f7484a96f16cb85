// A host program may set a global locale. What heed writes and reads does not depend on it.
#include <doctest/doctest.h>

#include <locale>

#include "autograd/array/shape.h"
#include "autograd/threads/machine.h"
#include "layers/text/formatted.h"
#include "tests/support/compare_runs.h"
#include "tests/support/training_run.h"
#include "train/plan.h"
#include "train/trainer.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

// 1.234.567,5 and blanks between digits.
class Grouping final : public std::numpunct<char> {
 protected:
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return ' '; }
  std::string do_grouping() const override { return "\3"; }
};

class GlobalLocale {
 public:
  explicit GlobalLocale(const std::locale& locale) : before_(std::locale::global(locale)) {}
  ~GlobalLocale() { std::locale::global(before_); }

 private:
  std::locale before_;
};

void run(const TempDir& folder, const std::string& name) {
  const std::vector<std::string> sets = {"eval={every: 4, batches: 2}", "data.sampling=windows",
                                         "optimizer.lr=1234.5e-5", "train.accumulate=2"};
  LoadedRun loaded = load_small(folder, sets);
  Trainer trainer(std::move(loaded), RunFolder::create(folder / name, ""));
  trainer.train();
}

}  // namespace

TEST_CASE("locale: a global one that groups digits changes no number that is written or read") {
  const TempDir folder;
  run(folder, "before");
  const auto plan = [&] { return describe(make_plan(load_small(folder)), load_small(folder))[0]; };
  const std::string before = plan();
  fs::create_directories(folder / "sys/fs/cgroup");
  fs::create_directories(folder / "proc/self");
  write_text(folder / "sys/fs/cgroup/cpu.max", "150000 100000\n");
  write_text(folder / "proc/self/cgroup", "0::/\n");
  {
    const GlobalLocale grouping(std::locale(std::locale::classic(), new Grouping));
    CHECK(text(1234567, ' ', 1234.5, ' ', Shape{5000, 2}) == "1234567 1234.5 (5000, 2)");
    CHECK(formatted("%.1f", 1234.5) == "1234.5");
    CHECK(cgroup_limits(folder.path()).cores == 1.5);
    CHECK(plan() == before);
    run(folder, "after");
  }
  CHECK(compare_checkpoints(folder / "before", folder / "after", 12) == 5);
  CHECK(rows_of(folder / "before") == rows_of(folder / "after"));
  CHECK(read_text(folder / "before/config.yaml") == read_text(folder / "after/config.yaml"));
}
