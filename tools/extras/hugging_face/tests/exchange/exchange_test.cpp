// heed import and heed export as a user types them. tools/reference/hugging_face.py compares them
// with transformers.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "tests/support/near.h"
#include "tests/support/run_program.h"
#include "tests/support/training_run.h"
#include "train/files/safetensors.h"

using namespace heed;
using namespace heed::testing;

namespace {

namespace fs = std::filesystem;

const std::string llama_options =
    "{type: gpt, context_length: 8, d_model: 12, num_heads: 3, num_layers: 2, position: rope, "
    "rope_base: 500, norm: rms_norm, activation: swiglu, ff_width: 10, dropout: 0.25}";

class Folders {
 public:
  Folders() {
    write_config(folder, std::string(small_config) + "precision: " + precision_name + "\n");
  }
  std::string path(const std::string& name) const { return (folder / name).string(); }
  std::string text_of(const std::string& name) const { return read_text(folder / name); }

  ProgramResult heed(const std::vector<std::string>& arguments, int exit_code = 0) const {
    const ProgramResult result = run_heed(arguments);
    CHECK_MESSAGE(result.exit_code == exit_code, arguments[0], ": ", result.err);
    return result;
  }
  // Trains a model for two steps.
  void train(const std::string& run, const std::vector<std::string>& sets) const {
    std::vector<std::string> arguments{"train",   path("c.yaml"), "--out",
                                       path(run), "--set",        "train.steps=2"};
    for (const std::string& set : sets) {
      arguments.insert(arguments.end(), {"--set", set});
    }
    heed(arguments);
  }
  // Trains RUN and exports it to HF.
  ProgramResult exported(const std::vector<std::string>& sets) const {
    train("run", sets);
    return heed({"export", path("run"), path("hf")});
  }
  ProgramResult imported(const std::string& run) const {
    return heed({"import", path("hf"), "--out", path(run)});
  }
  std::string refused(const std::vector<std::string>& arguments, int exit_code) const {
    return heed(arguments, exit_code).err;
  }
  // The section of the run's config.
  std::string model_of(const std::string& run) const {
    const std::string config = text_of(run + "/config.yaml");
    const size_t begin = config.find("\nmodel:\n"), end = config.find("\noptimizer:\n");
    return config.substr(begin, end - begin);
  }

  const TempDir folder;
};

const std::string golden_gpt2 = text(HEED_SOURCE_DIR, "/tests/golden/hugging_face/gpt2");

}  // namespace

TEST_CASE("export: a run, opened again by import, is the same run") {
  const Folders f;
  const ProgramResult exported = f.exported({"model=" + llama_options});
  CHECK(contains(exported.out, "AutoModelForCausalLM.from_pretrained(\"" + f.path("hf") + "\")"));
  CHECK(contains(exported.out, "AutoTokenizer.from_pretrained("));
  f.imported("again");
  CHECK(f.model_of("run") == f.model_of("again"));
  if (!is_float64) {
    CHECK(f.text_of("run/checkpoints/step-000002/model.safetensors") ==
          f.text_of("again/checkpoints/step-000000/model.safetensors"));
  }
  f.heed({"export", f.path("again"), f.path("hf2")});
  for (const char* file : {"config.json", "model.safetensors", "tokenizer.json",
                           "tokenizer_config.json", "generation_config.json"}) {
    CAPTURE(file);
    CHECK(f.text_of(std::string("hf/") + file) == f.text_of(std::string("hf2/") + file));
  }
}

TEST_CASE("export: the tokens around a task's texts, and its template") {
  const Folders f;
  write_text(f.folder / "n.txt", "Anna\nBela\nCara\nDana\n");
  f.exported({"data={type: lines, path: " + f.path("n.txt") + "}", "train.batch_size=2"});
  for (const char* file : {"hf/config.json", "hf/generation_config.json"}) {
    CHECK(contains(f.text_of(file), "\"bos_token_id\": 9"));
    CHECK(contains(f.text_of(file), "\"eos_token_id\": 10"));
  }
  CHECK(contains(f.text_of("hf/tokenizer_config.json"), "\"eos_token\": \"<end>\""));
  CHECK(
      contains(f.text_of("hf/tokenizer.json"), R"("single": [{"SpecialToken": {"id": "<start>")"));
  CHECK(contains(f.imported("again").err, "heed adds no token to a prompt"));
  const auto written = [&](const char* run) {
    return f.heed({"generate", f.path(run), "--ids", "9,0,1", "--temperature", "0"}).out;
  };
  CHECK(written("run") == written("again"));
  CHECK(contains(f.heed({"generate", f.path("again"), "--prompt", "<start>An", "--json"}).out,
                 "\"prompt\":\"<start>An\""));

  write_text(f.folder / "a.json", R"([{"instruction": "do", "output": "done"},
                                      {"instruction": "go", "output": "going"}])");
  f.train("asked", {"data={type: instructions, path: " + f.path("a.json") +
                        ", template: \"{instruction}>\", tokenizer: byte, train_fraction: 1}",
                    "train.batch_size=2"});
  f.heed({"export", f.path("asked"), f.path("chat")});
  CHECK(contains(f.text_of("chat/config.json"), "\"eos_token_id\": 256"));
  const std::string asks = f.text_of("chat/chat_template.jinja");
  CHECK(contains(asks, R"({{- "" + message['content'] + ">" -}})"));
  CHECK(contains(asks, R"({{- message['content'] + "<end>" -}})"));
}

TEST_CASE("import: what the run is good for") {
  const Folders f;
  f.train("run", {"data.tokenizer=byte"});
  f.heed({"export", f.path("run"), f.path("hf"), "--dtype", "bfloat16"});
  CHECK(SafeTensors(f.folder / "hf/model.safetensors").at("transformer.wte.weight").dtype ==
        Dtype::BF16);
  f.heed({"import", f.path("hf"), "--out", f.path("new/run")});
  const std::string run = f.path("new/run");
  CHECK(f.heed({"generate", run, "--prompt", "Every", "--tokens", "5"}).out.starts_with("Every"));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"inspect", run, "--attention", "--prompt", "Every"},
        {"inspect", run, "--json"},
        {"report", run},
        {"probe", run, "lens", "--prompt", "Every"}}) {
    if (has_command(words[0])) f.heed(words);
  }
  CHECK(contains(f.refused({"eval", run}, 2),
                 "no text to take examples from; --set data.path=FILE gives it one"));
  f.heed({"eval", run, "--set", "data.path=" + f.path("text.txt")});
  CHECK(contains(f.refused({"train", "--resume", run}, 1), ": has weights alone, and no "));
  for (const std::string& source : {run, f.path("hf")}) {
    f.train("on" + std::to_string(source.size()),
            {"data.tokenizer=byte", "model.qkv_bias=true", "train.weights=" + source,
             "train.weights_ignore=[\"*.W_*.bias\"]", "train.freeze=[\"tok_emb.*\"]"});
  }
}

TEST_CASE("import: an export that was trained elsewhere has the biases of its architecture") {
  const Folders f;
  f.exported({});
  f.imported("same");
  CHECK(contains(f.text_of("same/config.yaml"), "\n  qkv_bias: false\n"));
  const fs::path file = f.folder / "hf/model.safetensors";
  const SafeTensors before(file);
  std::string bytes = read_text(file);
  const TensorInfo& bias = before.at("transformer.h.0.attn.c_attn.bias");
  const size_t data = bytes.size() - static_cast<size_t>(before.tensors().back().end);
  bytes[data + static_cast<size_t>(bias.begin) + 3] = 1;
  write_text(file, bytes);
  f.imported("other");
  CHECK(contains(f.text_of("other/config.yaml"), "\n  qkv_bias: true\n"));
}

TEST_CASE("export: training that starts from it has the same tokenizer, or is warned") {
  const Folders f;
  f.exported({"model.qkv_bias=true"});
  std::string other = sample_text();
  std::replace(other.begin(), other.end(), 'E', 'z');
  write_text(f.folder / "other.txt", other);
  const auto said = [&](const std::vector<std::string>& sets) {
    std::vector<std::string> arguments{
        "train",      f.path("c.yaml"), "--dry-run",          "--weights",
        f.path("hf"), "--set",          "model.qkv_bias=true"};
    for (const std::string& set : sets) {
      arguments.insert(arguments.end(), {"--set", set});
    }
    return f.heed(arguments).out;
  };
  CHECK_FALSE(contains(said({}), "tokenizer"));
  CHECK(
      contains(said({"data.path=" + f.path("other.txt")}),
               "the weights were trained with another tokenizer: its ids do not mean the same; "));
  CHECK(contains(said({"data={type: synthetic, vocab_size: 21, context_length: 8}"}),
                 "the weights were trained with a tokenizer, this run has none: nothing tells"));
  write_text(f.folder / "hf/tokenizer.json", "{}");
  CHECK(contains(said({}), "the tokenizer is not compared with that of the weights: "));
  fs::remove(f.folder / "hf/tokenizer.json");
  CHECK(contains(said({}), "the weights were trained without a tokenizer, this run has one"));
}

TEST_CASE("export: a scale of the scores is written, and believed before heed's own config") {
  const Folders f;
  f.exported({"model.attention={type: multi_head_attention, scale: 1}"});
  CHECK(contains(f.text_of("hf/config.json"), "\"scale_attn_weights\": false"));
  f.imported("again");
  CHECK(f.model_of("run") == f.model_of("again"));
  // Edited: heed's own config says what the rest of the file does not.
  std::string config = f.text_of("hf/config.json");
  const std::string scale = "\"scale\": 1";
  config.replace(config.find(scale), scale.size(), "\"scale\": 3");
  write_text(f.folder / "hf/config.json", config);
  const ProgramResult edited = f.imported("edited");
  CHECK(contains(edited.err,
                 "hf/config.json: heedgrad.model is another model than the rest of the "
                 "file says, which is taken"));
  CHECK(contains(f.text_of("edited/config.yaml"), "\n    scale: 1\n"));
}

TEST_CASE("import: the characters of an export, U+180E among them") {
  const Folders f;
  std::string odd;
  for (int i = 0; i < 300; ++i) {
    odd += i % 3 == 0 ? "a\u180e\u180eb" : "\nb \u0085\r";
  }
  write_text(f.folder / "odd.txt", odd);
  f.exported({"data.path=" + f.path("odd.txt")});
  const ProgramResult imported = f.imported("again");
  CHECK(contains(imported.out, "  heed generate " + f.path("again") + " --prompt a\n"));
  const std::string prompt = "a\u180e\u180eb\n\n\u0085";
  for (const char* run : {"run", "again"}) {
    const ProgramResult made = f.heed(
        {"generate", f.path(run), "--prompt", prompt, "--tokens", "3", "--temperature", "0"});
    CHECK(made.out.starts_with(prompt));
  }
}

TEST_CASE("import: a name of the hub") {
  const Folders f;
  const auto import_error = [&](const std::string& from) {
    return f.refused({"import", from, "--out", f.path("run")}, 1);
  };
  CHECK(contains(import_error("no-such/gpt2-small"),
                 "no-such/gpt2-small: expected a folder with config.json and weights: not a "
                 "folder; heed downloads nothing: hf download no-such/gpt2-small --local-dir "
                 "gpt2-small makes such a folder"));
  CHECK(import_error(f.path("nowhere")).ends_with("weights: not a folder\n"));
}

TEST_CASE("import: no tokenizer, a padded vocabulary, a vocabulary that is too large") {
  const Folders f;
  const ProgramResult bare = f.heed({"import", golden_gpt2, "--out", f.path("bare"), "--json"});
  CHECK(contains(bare.err, "has no tokenizer: the run knows ids, no text"));
  CHECK(contains(bare.out, "\"parameters\":"));
  f.heed({"eval", f.path("bare")});
  const std::string no_text =
      " was imported without a tokenizer; import it again with --tokenizer FILE, or ask it in ids: "
      "heed generate RUN --ids 5,17,3";
  CHECK(contains(f.refused({"generate", f.path("bare"), "--prompt", "Hi"}, 2),
                 "heed generate: " + f.path("bare") + no_text));
  if (has_command("inspect")) {
    CHECK(contains(f.refused({"inspect", f.path("bare"), "--attention", "--prompt", "Hi"}, 2),
                   "the model" + no_text));
  }
  const auto tokenizer = [&](int more, const std::string& first = "a") {
    std::string vocabulary = "\"" + first + "\": 0";
    for (int k = 1; k < 10 + more; ++k) {
      vocabulary += text(", \"", static_cast<char>('a' + k), "\": ", k);
    }
    write_text(f.folder / "tok.json",
               "{\"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false}, "
               "\"model\": {\"type\": \"BPE\", \"merges\": [], \"vocab\": {" +
                   vocabulary + "}}}");
    return f.path("tok.json");
  };
  const ProgramResult padded =
      f.heed({"import", golden_gpt2, "--out", f.path("padded"), "--tokenizer", tokenizer(0)});
  CHECK(contains(padded.err, "has 10 tokens, the model 13: the last 3 are called <|unused_10|>"));
  CHECK(contains(padded.out, " --prompt a\n"));
  f.heed({"generate", f.path("padded"), "--prompt", "abc", "--tokens", "3"});
  f.heed({"import", golden_gpt2, "--out", f.path("taken"), "--tokenizer",
          tokenizer(0, "<|unused_11|>")});
  CHECK(contains(f.text_of("taken/tokenizer.json"), "\"<|unused_11_|>\""));
  CHECK(contains(
      f.refused({"import", golden_gpt2, "--out", f.path("small"), "--tokenizer", tokenizer(5)}, 2),
      "tok.json: has 15 tokens, the model 13; expected at most as many"));
  CHECK_FALSE(fs::exists(f.folder / "small"));
}

TEST_CASE("import: a tokenizer of another format is shown how to be converted") {
  const Folders f;
  fs::copy(golden_gpt2, f.path("hf"));
  write_text(f.folder / "hf/vocab.json", "{}");
  write_text(f.folder / "hf/merges.txt", "");
  const std::string refused = f.refused({"import", f.path("hf"), "--out", f.path("run")}, 1);
  CHECK(contains(refused, "hf/vocab.json: expected a tokenizer.json, got one of two files as "));
  CHECK(contains(refused, "\n  from transformers import GPT2TokenizerFast\n"));
  CHECK(refused.ends_with("hf/tokenizer.json\")\n--tokenizer none imports without it\n"));
  CHECK_FALSE(fs::exists(f.folder / "run"));
  f.heed({"import", f.path("hf"), "--out", f.path("run"), "--tokenizer", "none"});
}

TEST_CASE("export and import: refusals leave nothing behind") {
  const Folders f;
  f.train("run", {"model.feed_forward=none"});
  f.train("simple", {"model.num_heads=1", "model.attention={type: causal_attention}"});
  const auto export_error = [&](const std::string& run, int code) {
    return f.refused({"export", f.path(run), f.path("hf")}, code);
  };
  CHECK(contains(export_error("run", 2),
                 "heed export: no architecture of transformers holds this model exactly: "
                 "model.feed_forward: none, but gpt2 has one in each block"));
  CHECK(contains(export_error("simple", 2),
                 "model.attention: expected multi_head_attention, got causal_attention"));
  CHECK(contains(export_error("nowhere", 1), "expected a run folder"));
  CHECK_FALSE(fs::exists(f.folder / "hf"));
  CHECK(contains(f.refused({"export", f.path("run"), f.path("run")}, 2),
                 "is there already; give a folder that does not exist yet"));
  CHECK(contains(f.refused({"export", f.path("run"), f.path("hf"), "--dtype", "int8"}, 2),
                 "expected --dtype float32 or bfloat16, got int8"));
  const auto import_error = [&](const std::string& from, int code) {
    return f.refused({"import", from, "--out", f.path("new")}, code);
  };
  CHECK(contains(import_error(f.path("run"), 1), "config.json: cannot open"));
  CHECK(contains(import_error(f.path("nowhere"), 1), "expected a folder with config.json"));
  fs::create_directory(f.folder / "hf");
  write_text(f.folder / "hf/config.json", "{\"model_type\": \"gpt2\", \"n_layer\": 1000000}");
  CHECK(contains(import_error(f.path("hf"), 1), "expected model.safetensors or"));
  fs::copy_file(golden_gpt2 + "/model.safetensors", f.folder / "hf/model.safetensors");
  CHECK(contains(import_error(f.path("hf"), 2),
                 "hf/config.json: model.num_layers: expected a whole number"));
  write_text(f.folder / "hf/config.json", "{\"model_type\": \"gpt2\", \"n_embd\": 16777212}");
  import_error(f.path("hf"), 1);
  fs::copy(golden_gpt2, f.path("nan"));
  std::string bytes = f.text_of("nan/model.safetensors");
  std::fill_n(bytes.end() - 4, 4, '\xFF');
  write_text(f.folder / "nan/model.safetensors", bytes);
  CHECK(
      contains(import_error(f.path("nan"), 1), ": expected finite numbers of float32, got 1 of "));
  f.refused({"import", f.path("hf"), "--out", f.path("new/deep/run")}, 1);
  CHECK_FALSE(fs::exists(f.folder / "new"));
}

TEST_CASE(
    "export: what train.lora has learned, alone or in its base; imported, both are the same") {
  const Folders f;
  if (!has_command("tokenizer")) return;  // of the extra bpe, which the export needs
  const std::vector<std::string> sets{
      "model=" + llama_options,
      "train.lora={rank: 2, alpha: 3, targets: ['*W_query', '*W_value', '*up_proj']}"};
  f.train("base", {sets[0]});
  f.heed({"export", f.path("base"), f.path("hf")});
  f.train("lora", {sets[0], sets[1], "train.weights=" + f.path("hf"), "optimizer.lr=0.1"});
  CHECK(contains(f.refused({"export", f.path("lora"), f.path("x")}, 2),
                 "was trained with train.lora: --merge writes the whole model, --adapter what was "
                 "learned, for peft"));
  CHECK(contains(f.refused({"export", f.path("base"), f.path("x"), "--merge"}, 2),
                 "--merge: " + f.path("base") + " was not trained with train.lora"));
  f.heed({"export", f.path("lora"), f.path("merged"), "--merge"});
  const std::string said = f.heed({"export", f.path("lora"), f.path("adapter"), "--adapter"}).out;
  CHECK_MESSAGE(contains(said, "280 parameters for LlamaForCausalLM"), said);
  f.heed({"import", f.path("merged"), "--out", f.path("a")});
  f.heed({"import", f.path("adapter"), "--out", f.path("b")});  // names its base
  const SafeTensors a(f.folder / "a/checkpoints/step-000000/model.safetensors");
  const SafeTensors b(f.folder / "b/checkpoints/step-000000/model.safetensors");
  const SafeTensors base(f.folder / "base/checkpoints/step-000002/model.safetensors");
  int changed = 0;
  for (const TensorInfo& each : a.tensors()) {
    CHECK(check_near(a.array(each.name), b.array(each.name), 1e-6) > 0);
    changed += a.bytes(each.name) == base.bytes(each.name) ? 0 : 1;
  }
  if (!is_float64) CHECK(changed == 6);  // three layers of each block
  CHECK(contains(
      f.refused({"import", f.path("merged"), "--base", f.path("hf"), "--out", f.path("c")}, 2),
      "--base: " + f.path("merged") + " is not an adapter"));
}
