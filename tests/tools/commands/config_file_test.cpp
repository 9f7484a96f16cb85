// Which config a bare name is.
#include "tools/commands/config_file.h"

#include <doctest/doctest.h>

#include "autograd/base/error.h"
#include "tests/support/run_program.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

using namespace heed;
using namespace heed::cli;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

// The current folder, for the life of this.
struct Within {
  explicit Within(const fs::path& folder) : before(fs::current_path()) { fs::current_path(folder); }
  ~Within() { fs::current_path(before); }
  fs::path before;
};

}  // namespace

TEST_CASE("config file: of a build folder, the configs of its checkout") {
  const auto own = own_configs();
  const std::vector<fs::path> files = layout::shipped_configs();
  CHECK(own.size() == files.size());
  CHECK(files.size() >= 15);
  CHECK(
      fs::equivalent(own.at("quickstart"), fs::path(HEED_SOURCE_DIR) / "configs/quickstart.yaml"));
}

TEST_CASE("config file: a file of the name in the current folder wins") {
  const TempDir folder;
  const Within inside(folder.path());
  const std::string own = own_configs().at("quickstart").string();
  CHECK(config_file("quickstart") == own);
  fs::create_directory("quickstart");  // as of `heed configs quickstart --copy quickstart`
  CHECK(config_file("quickstart") == own);
  write_text("quickstart/mine.txt", "");
  CHECK_THROWS_WITH_AS(config_file("quickstart"),
                       "quickstart: is a folder of texts here, and a config of heed's; for the "
                       "folder write ./quickstart, for the config change to another folder",
                       ConfigError);
  write_text("quickstart.yaml", "");
  CHECK(config_file("quickstart") == "quickstart.yaml");
  write_text("quickstart/config.yaml", "");  // a run
  CHECK(config_file("quickstart") == "quickstart");
  CHECK(config_file("quickstart.yaml") == "quickstart.yaml");
  fs::create_directory("folder");
  CHECK(config_file("folder") == "folder");
}

TEST_CASE("config file: a path is taken as it is, a name must be there") {
  const TempDir folder;
  const Within inside(folder.path());
  CHECK(config_file("no/such.yaml") == "no/such.yaml");
  CHECK(config_file("./quickstart") == "./quickstart");
  CHECK(find_config("quikstart") == std::nullopt);
  CHECK_THROWS_WITH_AS(config_file("quikstart"),
                       "cannot read the config quikstart: there is no such file; heed has a config "
                       "quickstart",
                       IoError);
  CHECK_THROWS_WITH_AS(config_file("nothing like it"),
                       "cannot read the config nothing like it: there is no such file", IoError);
}

TEST_CASE("config file: a text is one by what it says, whatever its name") {
  const TempDir folder;
  const Within inside(folder.path());
  std::vector<std::string> sets;
  for (const char* name : {"my.YAML", "conf", "my.yaml.bak"}) {  // with mistakes
    for (const char* config : {"modle:\n  type: gpt\ndata:\n  path: x\ntrain:\n  steps: 1\n",
                               "  Model: {}\r  data: {}\r"}) {
      write_text(name, config);
      CHECK(config_for_text(name, sets) == name);
    }
  }
  write_text("play", "KING:\nWhat model: none.\ndata: my liege\n");
  CHECK(config_for_text("play", sets) == own_configs().at("quickstart"));
  sets = {"data.path=other.txt"};
  CHECK_THROWS_WITH_AS(config_for_text("play", sets),
                       "play and --set data.path=other.txt: two texts; give one", ConfigError);
}
