// heed tokenizer, and what becomes of a tokenizer in a run.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/training_run.h"
#include "train/evaluate.h"
#include "train/run/metrics.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

ProgramResult tokenizer(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "tokenizer");
  return run_heed(arguments);
}

// A folder with text.txt, and tok.json learned from it.
struct Learned {
  explicit Learned(const std::string& vocab = "280") {
    write_text(text(), sample_text());
    const ProgramResult result = tokenizer(
        {"train", text(), "--vocab", vocab, "--special", "<|endoftext|>", "--out", tok()});
    REQUIRE_MESSAGE(result.exit_code == 0, result.err);
    said = result.out;
  }
  std::string text() const { return (folder / "text.txt").string(); }
  std::string tok() const { return (folder / "tok.json").string(); }
  std::string path(const char* name) const { return (folder / name).string(); }
  TempDir folder;
  std::string said;
};

const char* const bpe_config = R"(seed: 5
data: {type: text, path: text.txt, tokenizer: {type: bpe, path: tok.json}, train_fraction: 0.7}
model: {type: gpt, context_length: 8, d_model: 12, num_heads: 3, num_layers: 1}
train: {steps: 6, batch_size: 4, log_every: 2}
eval: {every: 3}
)";

}  // namespace

TEST_CASE("heed tokenizer: encode keeps a byte order mark, as Hugging Face's tokenizers do") {
  const Learned learned;
  const std::string marked =
      "\xEF\xBB\xBF"
      "Every";
  write_text(learned.path("marked.txt"), marked);
  const std::string bin = learned.path("m.bin");
  REQUIRE(
      tokenizer({"encode", learned.path("marked.txt"), "--tokenizer", learned.tok(), "--out", bin})
          .exit_code == 0);
  CHECK(tokenizer({"decode", bin, "--tokenizer", learned.tok()}).out == marked);
}

TEST_CASE("heed tokenizer: learn, encode, decode, show") {
  const Learned learned;
  CHECK(contains(learned.said, "280 tokens: 256 bytes, 23 merges, 1 special"));
  const ProgramResult shown = tokenizer({"show", "Every effort\n", "--tokenizer", learned.tok()});
  CHECK(contains(shown.out, "|\\n\n"));
  CHECK(!contains(shown.out, "\x1b"));  // no colours in a pipe

  const std::string bin = learned.path("x.bin"), back = learned.path("back.txt");
  const ProgramResult encoded =
      tokenizer({"encode", learned.text(), "--tokenizer", learned.tok(), "--out", bin, "--json"});
  REQUIRE(encoded.exit_code == 0);
  const nlohmann::json facts = nlohmann::json::parse(encoded.out);
  CHECK(facts.at("bits") == 16);
  CHECK(fs::file_size(bin) == 2 * facts.at("tokens").get<size_t>());
  CHECK(tokenizer({"decode", bin, "--tokenizer", learned.tok(), "--out", back}).exit_code == 0);
  CHECK(read_text(back) == sample_text());
  CHECK(tokenizer({"decode", bin, "--tokenizer", learned.tok()}).out == sample_text());

  const nlohmann::json ids = nlohmann::json::parse(
      tokenizer({"encode", learned.text(), "--tokenizer", learned.tok(), "--json"}).out);
  CHECK(ids.at("ids").size() == facts.at("tokens"));
}

TEST_CASE(
    "heed tokenizer: ids of 32 bits where 16 are not enough, and the tokens task reads them") {
  const TempDir folder;
  std::string vocabulary = R"({"model": {"vocab": {)";
  for (int id = 0; id < 66'000; ++id) {  // "aaa", "aab", ...; a byte is one of the letters
    vocabulary += heed::text(id == 0 ? "" : ",", "\"", static_cast<char>('a' + id / 2704 % 52),
                             static_cast<char>('a' + id % 26), id, "\":", 26 + id);
  }
  for (int letter = 0; letter < 26; ++letter) {
    vocabulary += heed::text(",\"", static_cast<char>('a' + letter), "\":", letter);
  }
  vocabulary +=
      R"(}, "merges": []}, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}})";
  write_text(folder / "wide.json", vocabulary);
  write_text(folder / "t.txt", "abcabcabcabcabcabcabcabcabcabcabc");
  const std::string bin = (folder / "x.bin").string();
  const ProgramResult result = tokenizer({"encode", (folder / "t.txt").string(), "--tokenizer",
                                          (folder / "wide.json").string(), "--out", bin});
  REQUIRE_MESSAGE(result.exit_code == 0, result.err);
  CHECK(contains(result.out, "33 tokens of 32 bits, little-endian (16 are not enough for 66,026"));
  CHECK(fs::file_size(bin) == 4 * 33);
  const std::unique_ptr<Task> task = task_registry().make(
      "tokens", ConfigNode::map({{"path", bin}, {"vocab_size", 66'026}, {"context_length", 2}}),
      {});
  CHECK(task->data().examples(Split::train, {0}).input.ids.data()[1] == 1);
}

TEST_CASE("heed tokenizer: what is wrong") {
  const Learned learned;
  const auto refused = [&](std::vector<std::string> arguments, int code, const char* message) {
    const ProgramResult result = tokenizer(std::move(arguments));
    CAPTURE(result.err);
    CHECK(result.exit_code == code);
    CHECK(contains(result.err, message));
  };
  const std::string text = learned.text(), tok = learned.tok(), out = learned.path("out");
  refused({"encod", text}, 2,
          "expected train, encode, decode or show, got encod, did you mean encode?");
  refused({"train", text, "--out", out}, 2, "expected --vocab");
  refused({"train", text, "--vocab", "300"}, 2, "expected --out");
  refused({"train", text, "--vocab", "10", "--out", out}, 2, "expected a size from 256");
  refused({"train", text, "--vocab", "300", "--out", text}, 2, "--out");
  refused({"train", text, "--vocab", "300", "--out", out, "--pattern", "gpt5"}, 2, "gpt2 or gpt4");
  refused({"train", text, "--vocab", "300", "--out", out, "--special", "x\xFF"}, 1,
          "--special: expected UTF-8");
  refused({"train", learned.path("none"), "--vocab", "300", "--out", out}, 1, "none");
  refused({"encode", text, "--tokenizer", tok}, 2, "expected --out");
  refused({"encode", text, "--out", out}, 2, "expected --tokenizer");
  refused({"encode", text, text, "--tokenizer", tok, "--out", out}, 2, "expected one FILE, got 2");
  refused({"show", "a", "--tokenizer", tok, "--vocab", "300"}, 2, "--vocab has no effect");
  refused({"show", "a", "--tokenizer", text}, 1, "expected JSON");
  write_text(learned.folder / "bad.bin", "abc");
  refused({"decode", learned.path("bad.bin"), "--tokenizer", tok}, 1, "expected ids of 16 bits");
  write_text(learned.folder / "bad.bin", "\xFF\xFF");
  refused({"decode", learned.path("bad.bin"), "--tokenizer", tok}, 1,
          "expected ids below 280, got 65535");
  std::string wide;
  for (int i = 0; i < 40; ++i) wide += std::string{static_cast<char>('a' + i % 20), 0, 0, 0};
  write_text(learned.folder / "bad.bin", wide);
  refused({"decode", learned.path("bad.bin"), "--tokenizer", tok}, 1,
          "bad.bin: expected ids of 16 bits, as the tokenizer has 280 tokens; got every second one "
          "0: ids of 32 bits?");
  write_text(learned.folder / "bad.bin", "\x93NUMPY\x01" + std::string(121, ' ') + wide);
  refused({"decode", learned.path("bad.bin"), "--tokenizer", tok}, 1,
          "bad.bin: expected nothing but ids, got a file of NumPy's");
  write_text(learned.folder / "bad.bin", "1 2 3 4 5 6 7 8 9");
  refused({"decode", learned.path("bad.bin"), "--tokenizer", tok}, 1,
          "bad.bin: expected nothing but ids, got text");
  CHECK(!fs::exists(out));
  // A path that is no UTF-8 may still be written to.
  const std::string odd = learned.path("\xFF.bin");
  CHECK(tokenizer({"encode", text, "--tokenizer", tok, "--out", odd, "--json"}).exit_code == 0);
}

TEST_CASE("a run with a tokenizer: bits a byte, and everything works when the file is gone") {
  const Learned learned;
  write_text(learned.folder / "c.yaml", bpe_config);
  const std::string run = learned.path("run"), whole = learned.path("whole");
  const auto heed = [](const std::vector<std::string>& arguments) {
    ProgramResult result = run_heed(arguments);
    CHECK_MESSAGE(result.exit_code == 0, result.err);
    return result;
  };
  heed({"train", learned.path("c.yaml"), "--out", whole, "--set", "train.steps=12"});
  CHECK(contains(heed({"train", learned.path("c.yaml"), "--out", run}).err, "tokens out of 280"));
  CHECK(fs::exists(fs::path(run) / "checkpoints/step-000006/tokenizer.json"));
  fs::remove(learned.tok());

  const nlohmann::json eval = nlohmann::json::parse(heed({"eval", run, "--json"}).out);
  const double nats = eval.at("val_loss").get<double>() * eval.at("tokens").get<double>();
  CHECK(eval.at("bits_per_byte").get<double>() > 0.1);
  CHECK(eval.at("bits_per_byte").get<double>() < nats);
  const std::vector<MetricsRow> rows = read_metrics(fs::path(run) / "metrics.csv");
  REQUIRE(rows.size() >= 2);
  CHECK(rows.back().bits_per_byte == doctest::Approx(eval.at("bits_per_byte").get<double>()));

  // Half a character at the end of the prompt: what is printed is UTF-8 all the same.
  const std::string written = heed({"generate", run, "--prompt", "a\xC3", "--tokens", "30"}).out;
  CHECK(nlohmann::json(written).dump().size() > 2);  // throws for bytes that are no UTF-8
  CHECK(written.starts_with("a"));
  if (has_command("inspect")) {
    heed({"inspect", run, "--attention", "--prompt", "Every"});
    heed({"inspect", run});
  }

  heed({"train", "--resume", run, "--set", "train.steps=12"});
  CHECK(read_text(fs::path(run) / "checkpoints/step-000012/model.safetensors") ==
        read_text(fs::path(whole) / "checkpoints/step-000012/model.safetensors"));

  // Another tokenizer under the same name is no secret.
  const ProgramResult missing = run_heed({"train", learned.path("c.yaml")});
  CHECK(missing.exit_code == 1);
  CHECK(contains(missing.err, "tok.json"));
}

TEST_CASE("bits a byte: of characters and bytes, the loss over the bytes of the text") {
  const TempDir folder;
  for (const char* name : {"char", "byte"}) {
    LoadedRun loaded = load_small(folder, {heed::text("data.tokenizer=", name)});
    apply_settings(loaded.config);
    const std::unique_ptr<Module> model = make_layer(loaded.config.model);
    const Evaluation of = evaluate(*model, *loaded.task, Split::validation, 4, {});
    REQUIRE(of.bits_per_byte);
    CHECK(*of.bits_per_byte == doctest::Approx(of.loss / std::log(2.0)));  // the text is ASCII
    CHECK(loaded.resolved.get("data").get("tokenizer").text() == name);
  }
}
