// What may follow on a command line. heed complete and bash: tests/transcripts/completion.txt.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "layers/module/registry.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"
#include "tests/support/training_run.h"
#include "tools/command.h"
#include "tools/commands/config_file.h"
#include "tools/extras/configs/candidates.h"

using namespace heed;
using namespace heed::cli;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> words_after(const std::vector<std::string>& words) {
  std::vector<std::string> found;
  for (const Candidate& candidate : candidates(words).words) found.push_back(candidate.word);
  std::sort(found.begin(), found.end());
  return found;
}

bool offers(const std::vector<std::string>& words, const std::string& word) {
  const std::vector<std::string> found = words_after(words);
  return std::count(found.begin(), found.end(), word) == 1;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("completion: commands, with their help, but none that is hidden") {
  size_t seen = 0;
  for (const Command& command : all_commands()) {
    CHECK(offers({""}, command.name) == (command.group != Group::hidden));
    ++seen;
  }
  CHECK(seen > 8);
  CHECK(words_after({"val"}) == Words{"validate"});
  CHECK(words_after({"--trust-plugins", "val"}) == Words{"validate"});
  CHECK(words_after({"--plugin", "a.so", "val"}) == Words{"validate"});
  CHECK(candidates({"--plugin", ""}).also == Names::files);
  CHECK(words_after({"--pl"}) == Words{"--plugin"});
  CHECK(candidates({"train", ""}).words.front().help != "");
  CHECK(words_after({"nonsense", ""}).empty());
  CHECK(!contains(succeeded({"--help"}).out, "  complete "));
}

TEST_CASE("completion: options of the command, one that is given already no more") {
  CHECK(words_after({"train", "--dr"}) == Words{"--dry-run"});
  CHECK(words_after({"train", "--dry-run", "--dr"}).empty());
  CHECK(offers({"train", "--set", "seed=1", "--s"}, "--set"));
  CHECK(offers({"train", "-"}, "--threads"));
  CHECK(!offers({"validate", "-"}, "--resume"));
  CHECK(candidates({"train", "--out", ""}).also == Names::files);
  CHECK(candidates({"train", "--threads", ""}).also == Names::none);
}

TEST_CASE("completion: names of configs and layers") {
  size_t seen = 0;
  for (const auto& config : own_configs()) {
    CHECK(offers({"train", ""}, config.first));
    ++seen;
  }
  CHECK(seen > 20);
  CHECK(candidates({"train", ""}).also == Names::files);
  CHECK(words_after({"train", "quickstart", ""}).empty());
  for (const std::string& layer : layer_registry().types().names()) {
    if (has_command("gradcheck")) CHECK(offers({"gradcheck", ""}, layer));
    if (has_command("layers")) CHECK(offers({"layers", ""}, layer));
  }
  if (!has_command("layers")) return;
  CHECK(offers({"layers", "adam"}, "adamw"));
  CHECK(offers({"layers", "opt"}, "optimizer"));
}

TEST_CASE("completion: runs and their checkpoints") {
  const TempDir folder;
  fs::create_directories(folder / "mine/checkpoints/step-000010");
  fs::create_directories(folder / "other");
  write_text(folder / "mine/config.yaml", "");
  write_text(folder / "mine/checkpoints/step-000010/config.yaml", "");
  const std::string in = folder.path().string();
  CHECK(words_after({"eval", in + "/"}) == Words{in + "/mine"});
  CHECK(words_after({"train", "--resume", in + "/m"}) == Words{in + "/mine"});
  CHECK(words_after({"train", "--resume=" + in + "/m"}) == Words{"--resume=" + in + "/mine"});
  CHECK(words_after({"eval", in + "/mine/"}) == Words{in + "/mine/checkpoints/step-000010"});
  CHECK(candidates({"eval", ""}).also == Names::folders);
}

TEST_CASE("completion: keys of a config after --set, of the types that it has") {
  const auto set = [](const std::string& typed) {
    return words_after({"train", "quickstart", "--set", typed});
  };
  CHECK(set("optimizer.l") == Words{"optimizer.lr="});
  CHECK(set("opt") == Words{"optimizer."});
  CHECK(set("see") == Words{"seed="});
  CHECK(set("model.num_l") == Words{"model.num_layers="});
  CHECK(set("model.source").empty());  // a field of another model
  CHECK(set("data.tok") == Words{"data.tokenizer.", "data.tokenizer="});
  CHECK(offers({"train", "quickstart", "--set", "model.attention."}, "model.attention.type="));
  const auto listed = [](const std::string& typed) {
    return words_after(
        {"train", "quickstart", "--set", "model.attention=[{}, {window: 4}]", "--set", typed});
  };
  CHECK(listed("model.attention.") == Words{"model.attention.0.", "model.attention.1."});
  CHECK(listed("model.attention.1.win") == Words{"model.attention.1.window="});
  CHECK(listed("model.attention.2.").empty());
  CHECK(set("nothing.").empty());
  CHECK(set("seed.").empty());
  // Of another type, which a --set before it names; of all types without a config.
  CHECK(words_after({"train", "quickstart", "--set", "model.type=encoder_decoder", "--set",
                     "model.source_v"}) == Words{"model.source_vocab_size="});
  CHECK(words_after({"train", "--set=model.type=encoder_decoder", "--set", "model.source_v"}) ==
        Words{"model.source_vocab_size="});
  CHECK(offers({"train", "--set", "model.source_v"}, "model.source_vocab_size="));
}

TEST_CASE("completion: values after --set, where they can be listed") {
  const auto set = [](const std::string& typed) {
    return words_after({"train", "quickstart", "--set", typed});
  };
  CHECK(set("model.qkv_bias=") == Words{"model.qkv_bias=false", "model.qkv_bias=true"});
  CHECK(set("precision=") == Words{"precision=float32", "precision=float64"});
  CHECK(offers({"train", "quickstart", "--set", "model.type=gp"}, "model.type=gpt"));
  CHECK(set("schedule.type=cos") == Words{"schedule.type=cosine"});
  CHECK(set("train.clip_grad_norm=") == Words{"train.clip_grad_norm=none"});
  CHECK(set("train.steps=").empty());
  CHECK(words_after({"train", "--set=precision=float3"}) == Words{"--set=precision=float32"});
  CHECK(candidates({"train", "quickstart", "--set", "data.path="}).also == Names::files);
}
