// heed configs. What it says and copies: tests/transcripts/configs.txt.
#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"
#include "tests/support/training_run.h"
#include "tools/extras/configs/own_config.h"

using namespace heed;
using namespace heed::cli;
using namespace heed::testing;
namespace fs = std::filesystem;

TEST_CASE("heed configs: every config of this build, with a sentence about it") {
  const std::string all = succeeded({"configs"}).out;
  const auto json = nlohmann::json::parse(succeeded({"configs", "--json"}).out);
  size_t seen = 0;
  for (const OwnConfig& config : list_own_configs()) {
    CAPTURE(config.name);
    CHECK(contains(all, "\n  " + config.name + " ") != all.starts_with("  " + config.name + " "));
    CHECK(config.about.size() > 20);
    CHECK(json["configs"][seen]["name"] == config.name);
    CHECK(json["configs"][seen]["about"] == config.about);
    ++seen;
  }
  CHECK(seen >= 21);
  CHECK(json["configs"].size() == seen);
}

TEST_CASE("heed configs: what a config says about itself is its first sentence") {
  CHECK(about("# heed train configs/a.yaml\n#\n# Reversing: backwards. Then more.\nseed: 1\n") ==
        "Reversing: backwards");
  CHECK(about("# The task of b.yaml, in two lines (Ba et\n# al. 2016) of text. It\n") ==
        "The task of b.yaml, in two lines (Ba et al. 2016) of text");
  CHECK(about("# For benchmarks:\n#   heed bench x\n# More.\n") == "For benchmarks");
  CHECK(about("seed: 1\n") == "");
}

TEST_CASE("heed configs: the beginning of a sentence that fits") {
  const std::string sentence = "Spam or not (chapter 6), as in the book: a gpt, and a class";
  CHECK(headline(sentence, 59) == sentence);
  CHECK(headline(sentence, 58) == "Spam or not (chapter 6), as in the book");
  CHECK(headline(sentence, 38) == "Spam or not (chapter 6)");
  CHECK(headline(sentence, 22) == "Spam or not");
  CHECK(headline(sentence, 10) == "Spam or...");
  CHECK(headline("20,479 characters", 9) == "20,479...");
}

TEST_CASE("heed configs: those to begin with come first, and 80 columns are enough") {
  const std::vector<OwnConfig> all = list_own_configs();
  const std::string readme = read_text(fs::path(HEED_SOURCE_DIR) / "configs/README.md");
  size_t at = 0, first = 0;
  for (; first < all.size() && all[first].to_begin_with; ++first) {
    CAPTURE(all[first].name);
    if (all[first].name != "quickstart") {  // a lesson, in this order
      at = std::min(readme.find("/" + all[first].name + ".yaml --set seed=1", at),
                    readme.find(" " + all[first].name + " --set seed=1", at));
      CHECK(at != std::string::npos);
    }
  }
  CHECK(first >= 5);
  CHECK(all[0].name == "quickstart");
  if (!has_terminals()) return;
  const std::string shown = on_terminal({"configs"}, 80);
  CHECK(contains(shown, "to begin with\r\n  quickstart  "));
  CHECK(contains(shown, "\r\ncore\r\n  gpt2_124m  "));
  CHECK(!contains(shown, "..."));
}

TEST_CASE("heed configs NAME --copy: every copy has what it needs, under the schema's line") {
  size_t copied = 0, with_files = 0;
  for (const OwnConfig& config : list_own_configs()) {
    CAPTURE(config.name);
    const TempDir folder;
    const std::vector<CopiedFile> files = copy_of(config);
    write_copy(folder.path(), files);
    const fs::path copy = folder / (config.name + ".yaml");
    const std::string head =
        "# yaml-language-server: $schema=heed.schema.json\n# heed train " + config.name + ".yaml\n";
    const std::string text = read_text(copy), own = read_text(config.file);
    CHECK(text.starts_with(head));
    if (files.size() == 2) {  // itself and the schema
      CHECK(text.substr(head.size()) == own.substr(own.find('\n') + 1));
    } else {
      const LoadedRun loaded = load_run(read_run_tree(copy), copy.parent_path());
      const ConfigNode& data = *loaded.resolved.find("data");
      CHECK(data.get("path").text().starts_with(folder.path().string()));
    }
    ++copied;
    with_files += files.size() > 2 ? 1 : 0;
  }
  CHECK(copied >= 21);
  CHECK(with_files >= 10);
}
