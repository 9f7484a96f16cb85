// Training that starts from weights, and goes on from there.
#include "tools/extras/fine_tuning/train/source.h"

#include <doctest/doctest.h>

#include <limits>

#include "autograd/base/rethrow.h"
#include "tests/support/near.h"
#include "tests/support/training_run.h"
#include "tools/extras/fine_tuning/train/freeze.h"
#include "tools/extras/inspect/train/shown_parameters.h"  // the message about train.show
#include "train/checkpoint/state_dict.h"
#include "train/plan.h"
#include "train/trainer.h"

using namespace heed;
using namespace heed::testing;

namespace {

namespace fs = std::filesystem;

// Trains the small config with changes; returns the run's folder.
fs::path trained(const TempDir& folder, const std::string& name,
                 const std::vector<std::string>& sets) {
  LoadedRun run = load_small(folder, sets);
  Trainer(std::move(run), RunFolder::create((folder / name).string(), "c")).train();
  return folder / name;
}

fs::path resumed(const TempDir& folder, const fs::path& run, const std::vector<std::string>& sets) {
  std::vector<std::string> warnings;
  const fs::path checkpoint = resolve_run(run, warnings).checkpoint;
  LoadedRun loaded = load_run(read_run_tree(run / "config.yaml", sets_in(folder, sets)), run,
                              Purpose::train, checkpoint);
  Trainer(std::move(loaded), RunFolder::open(run), checkpoint).train();
  return run;
}

std::string model_at(const fs::path& run, const std::string& step) {
  return read_text(run / "checkpoints" / step / "model.safetensors");
}

// A run of two steps, which no test changes, and its weights.
const fs::path& first_run() {
  static const TempDir folder;
  static const fs::path run = trained(folder, "first", {"train.steps=2"});
  return run;
}
fs::path first_weights() { return first_run() / "checkpoints/step-000002/model.safetensors"; }

Array tensor_of(const fs::path& run, const std::string& step, const std::string& name) {
  return SafeTensors(run / "checkpoints" / step / "model.safetensors").array(name);
}

}  // namespace

TEST_CASE("weights: a run starts from those of a run, a checkpoint or a file, with the same bits") {
  const TempDir folder;
  const fs::path file = first_weights();
  std::vector<std::string> results;
  for (const fs::path& source : {first_run(), file.parent_path(), file}) {
    const std::string name = "from-" + std::to_string(results.size());
    const fs::path run =
        trained(folder, name, {"train.steps=3", "seed=9", "train.weights=" + source.string()});
    results.push_back(model_at(run, "step-000003"));
    const std::string config = read_text(run / "config.yaml");
    CHECK(contains(config, "weights: " + source.string()));
    CHECK(contains(config, "weights_fingerprint: " + fingerprint_file(file).text()));
  }
  CHECK(results[0] == results[1]);
  CHECK(results[0] == results[2]);
  CHECK(results[0] !=
        model_at(trained(folder, "drawn", {"train.steps=3", "seed=9"}), "step-000003"));
}

TEST_CASE("weights: frozen parameters keep their bits, and resuming needs no source") {
  const TempDir folder;
  const fs::path first = trained(folder, "first", {"train.steps=2"});
  std::vector<std::string> sets{"seed=9", "model.dropout=0.1", "train.weights=" + first.string(),
                                "train.freeze=[\"tok_emb.*\", trf_blocks.0.att.W_query.weight]",
                                "train.steps=7"};
  const fs::path whole = trained(folder, "whole", sets);
  sets.back() = "train.steps=3";
  const fs::path half = trained(folder, "half", sets);
  for (const char* name : {"tok_emb.weight", "trf_blocks.0.att.W_query.weight"}) {
    check_same_bits(tensor_of(whole, "step-000007", name), tensor_of(first, "step-000002", name));
  }
  const char* const moved = "trf_blocks.0.att.W_key.weight";
  CHECK(difference(tensor_of(whole, "step-000007", moved),
                   tensor_of(first, "step-000002", moved)) != "");
  const SafeTensors state(whole / "checkpoints/step-000007/optimizer.safetensors");
  CHECK(state.find("exp_avg.tok_emb.weight") == nullptr);
  CHECK(state.find("exp_avg.trf_blocks.0.att.W_key.weight") != nullptr);

  fs::remove_all(first);
  resumed(folder, half, {"train.steps=7"});
  CHECK(model_at(half, "step-000007") == model_at(whole, "step-000007"));
}

TEST_CASE("weights: their characters are those of the new run, and others are listed") {
  const TempDir folder;
  const std::string from = "train.weights=" + first_run().string();
  CHECK(load_small(folder, {from}).warnings.empty());
  // Fewer characters than the model knows: the ids are those of the model.
  write_text(folder / "fewer.txt", std::string(300, 'e') + "very\n");
  const LoadedRun fewer = load_small(folder, {from, "data.path=fewer.txt"});
  CHECK(fewer.warnings.empty());
  CHECK(fewer.task->tokenizer()->vocabulary() ==
        load_small(folder).task->tokenizer()->vocabulary());
  // Others: all of them are in the message, whose exit code is 2.
  write_text(folder / "other.txt", sample_text() + "2\u00e9\u00fc2\n");
  const auto message = [&](const std::vector<std::string>& more) {
    std::vector<std::string> sets{from, "data.path=other.txt"};
    sets.insert(sets.end(), more.begin(), more.end());
    return message_of<ConfigError>([&] { load_small(folder, sets); });
  };
  CHECK(
      contains(message({}), "data.path: the characters 2 \u00e9 \u00fc (the first is character "));
  // A new vocabulary, for parameters that are drawn anew.
  CHECK(message({"train.weights_ignore=[\"tok_emb.*\", \"out_head.*\"]"}) == "no error");

  // A copy without its vocabulary.
  fs::create_directory(folder / "copy");
  for (const char* name : {"model.safetensors", "config.yaml"}) {
    fs::copy_file(first_weights().parent_path() / name, folder / "copy" / name);
  }
  const LoadedRun copy =
      load_small(folder, {"train.weights=" + (folder / "copy/model.safetensors").string()});
  CHECK(copy.warnings ==
        std::vector<std::string>{"the tokenizer is not compared with that of the weights: " +
                                 (folder / "copy/vocabulary.json").string() + ": is missing"});
  CHECK(make_plan(copy).warnings == copy.warnings);  // what --strict refuses
}

TEST_CASE("weights: a run on another text is refused, with the characters it does not know") {
  const TempDir folder;
  const fs::path first = first_run(), checkpoint = first_weights().parent_path();
  const auto load = [&](const std::string& text) {
    write_text(folder / "other.txt", text);
    load_run(read_run_tree(first / "config.yaml", {"data.path=" + (folder / "other.txt").string()}),
             first, Purpose::train, checkpoint);
  };
  CHECK(contains(error_of([&] { load(sample_text() + "\u00e9"); }),
                 "data.path: the character \u00e9 (character "));
  CHECK(
      contains(error_of([&] { load(sample_text() + "Every"); }), "changed: expected fingerprint"));
}

TEST_CASE("weights: the plan counts what trains, and what that costs") {
  const TempDir folder;
  const Plan all = make_plan(load_small(folder));
  const LoadedRun run = load_small(folder, {"train.freeze=[\"trf_blocks.*\", \"*_emb.*\"]"});
  const Plan some = make_plan(run);
  CHECK(all.trained_parameters == all.parameters);
  CHECK(some.parameters == all.parameters);
  CHECK(some.trained_parameters < all.parameters / 2);
  CHECK(some.gradient_bytes == some.trained_parameters * static_cast<int64_t>(sizeof(real)));
  CHECK(some.optimizer_bytes < all.optimizer_bytes);
  CHECK(some.flops_per_step <
        all.flops_per_step / 2);  // nothing behind the blocks wants a gradient
  CHECK(some.warnings.size() == all.warnings.size());
  CHECK(contains(describe(some, run).front(), "of them trained, the others frozen"));
}

TEST_CASE("weights: what does not fit is named with both shapes, before a run is made") {
  const TempDir folder;
  const std::string from = "train.weights=" + first_run().string();
  const auto refused = [&](const std::vector<std::string>& sets) {
    return message_of<ConfigError>([&] { make_plan(load_small(folder, sets)); });
  };
  const std::string shape = refused({from, "model.context_length=16"});
  CHECK(contains(shape, "pos_emb.weight: expected shape (16, 12), got (8, 12)"));
  CHECK(contains(shape, "weights_ignore: [\"pos_emb.*\"]"));
  CHECK(refused({from, "model.context_length=16", "train.weights_ignore=[pos_emb.*]"}) ==
        "no error");
  CHECK(contains(refused({from, "model.num_layers=2"}),
                 "trf_blocks.1.att.W_query.weight: missing, expected shape (12, 12)"));
  CHECK(refused({from, "model.num_layers=2", "train.weights_ignore=[trf_blocks.1.*]"}) ==
        "no error");
  CHECK(refused({from, "model.bias=false", "train.weights_ignore=[\"*.bias\", \"*.shift\"]"}) ==
        "no error");
  CHECK(contains(refused({from, "train.weights_ignore=[out_haed.*]"}),
                 "weights_ignore: no parameter is called out_haed.*, did you mean out_head.*?"));
  CHECK(contains(refused({from, "train.weights_ignore=[\"*\"]"}),
                 "weights_ignore: every parameter is ignored, so none would start from these"));
  CHECK(contains(refused({from, "model.bias=false"}),
                 "trf_blocks.0.att.out_proj.bias: not in the model"));
  const std::string all = refused({from, "model.context_length=16",
                                   "train.freeze=[tok_em.*, \"*\", x.y]", "train.show=[out_haed]"});
  CAPTURE(all);
  CHECK(contains(all,
                 ":1:15: train.freeze.0: no parameter is called tok_em.*, did you mean "
                 "tok_emb.*?\n"));
  CHECK(contains(all, ":1:30: train.freeze.2: no parameter is called x.y; heed inspect"));
  CHECK(contains(all,
                 ":1:13: train.show.0: no parameter or layer is called out_haed, did you mean "
                 "out_head?"));
  CHECK(contains(all, ":1:15: train.weights: these are not the weights of this model: "));
  CHECK(contains(refused({"train.freeze=[\"*\"]"}), "nothing to train"));

  const auto unreadable = [&](const std::string& source) {
    return message_of<IoError>(
        [&] { load_small(folder, {"train.weights=" + (folder / source).string()}); });
  };
  CHECK(
      contains(unreadable("none"),
               "expected a run folder, a checkpoint, a safetensors file or a Hugging Face folder"));
  CHECK(contains(unreadable("text.txt"), "train.weights: " + (folder / "text.txt").string()));
}

TEST_CASE("weights: another function of the same shapes is warned of, field by field") {
  const TempDir folder;
  const std::string rope =
      "model={type: gpt, context_length: 8, d_model: 12, num_layers: 1, bias: false, position: "
      "rope, ";
  const fs::path first = trained(folder, "first", {"train.steps=2", rope + "num_heads: 3}"});
  const auto warnings = [&](const fs::path& source, const std::string& options) {
    const Plan plan =
        make_plan(load_small(folder, {"train.weights=" + source.string(), rope + options + "}"}));
    return plan.warnings;
  };
  const auto line = [](const std::string& field, const std::string& ours, const std::string& was) {
    return "model." + field + " is " + ours + ", but the weights were made with " + was;
  };
  const fs::path file = first / "checkpoints/step-000002/model.safetensors";
  for (const fs::path& source : {first, file.parent_path(), file}) {
    CHECK(warnings(source, "num_heads: 3").empty());
    CHECK(warnings(source, "num_heads: 2, activation: relu, norm_eps: 0.5, rope_base: 99") ==
          std::vector<std::string>{line("activation", "relu", "gelu_tanh"),
                                   line("norm_eps", "0.5", "1e-05"), line("num_heads", "2", "3"),
                                   line("rope_base", "99", "10000")});
    CHECK(warnings(
              source,
              "num_heads: 3, norm: rms_norm, attention: {type: multi_head_attention, scale: 3}") ==
          std::vector<std::string>{line("attention.scale", "3", "auto"),
                                   line("norm", "rms_norm", "layer_norm")});
    CHECK(warnings(source, "num_heads: 3, feed_forward: {type: feed_forward, activation: relu}") ==
          std::vector<std::string>{line("activation", "relu", "gelu_tanh")});
    CHECK(warnings(source, "num_heads: 3, attention: {type: multi_head_attention, rope_base: 7}") ==
          std::vector<std::string>{line("attention.rope_base", "7", "10000")});
    // What acts in training only.
    CHECK(warnings(source, "num_heads: 3, dropout: 0.1, init: gpt2").empty());
  }
  write_text(file.parent_path() / "config.yaml", "model: {type: no_layer}\n");
  CHECK(contains(warnings(file, "num_heads: 3").back(),
                 "the model is not compared with that of the weights: unknown layer \"no_layer\""));
  fs::remove(file.parent_path() / "config.yaml");
  CHECK(warnings(file, "num_heads: 2").empty());
}

TEST_CASE("weights: blocks that differ in their attention, or do not") {
  const auto gpt = [](const std::string& attention) {
    return read_options("layer", "gpt",
                        parse_config("{vocab_size: 5, context_length: 8, d_model: 12, num_heads: "
                                     "3, num_layers: 2, attention: " +
                                         attention + "}",
                                     "g.yaml"));
  };
  const LayerChoice listed = gpt("[{window: 2}, {}]"), plain = gpt("{window: 2}");
  CHECK(differences(listed, listed).empty());
  const std::vector<Difference> differ = differences(listed, plain);
  REQUIRE(differ.size() == 1);
  CHECK(differ[0].field == "attention");
  CHECK(differ[0].ours == "a list of 2");
  CHECK(differ[0].theirs == "the same in every block");
  CHECK(differences(gpt("[{window: 3}, {}]"), listed).at(0).field == "attention.0.window");
}

TEST_CASE("weights: a default that is spelled out is no difference, nor a field that one lacks") {
  const std::string model =
      "model={type: gpt, context_length: 8, d_model: 12, num_layers: 1, num_heads: 3, ";
  const std::string plain = model + "bias: true}";
  const std::string spelled =
      model + "num_kv_heads: 3, attention: {type: multi_head_attention, scale: 0.5}}";
  const std::string scaled = model + "attention: {type: multi_head_attention, scale: 0.25}}";
  const std::string gated = model + "feed_forward: {type: gated_feed_forward, ff_width: 48}}";
  const std::string swiglu = model + "activation: swiglu}";
  const auto read = [](const std::string& set) {
    ConfigNode options = parse_config(set.substr(6), "");
    options.set("vocab_size", 9);
    options.erase("type");
    return read_options("layer", "gpt", options);
  };
  const auto fields = [&](const std::string& ours, const std::string& theirs) {
    std::string names;
    for (const Difference& each : differences(read(ours), read(theirs))) {
      names += each.field + " " + each.ours + " " + each.theirs + "; ";
    }
    return names;
  };
  CHECK(fields(plain, spelled) == "");
  CHECK(fields(spelled, plain) == "");
  CHECK(fields(gated, swiglu) == "");
  CHECK(fields(plain, scaled) == "attention.scale auto 0.25; ");
  CHECK(fields(gated, plain) == "activation swiglu gelu_tanh; ");
}

TEST_CASE("weights: ids that mean something else, or may, are warned of") {
  const TempDir folder;
  const auto warnings = [&](const fs::path& source, const std::vector<std::string>& more) {
    std::vector<std::string> sets{"train.weights=" + source.string()};
    sets.insert(sets.end(), more.begin(), more.end());
    return load_small(folder, sets).warnings;
  };
  const auto nothing_tells = [](const char* before, const char* now) {
    return std::vector<std::string>{text("the weights were trained ", before,
                                         " a tokenizer, this run has ", now,
                                         ": nothing tells whether the ids mean the same")};
  };
  const fs::path characters = trained(folder, "characters", {"train.steps=1"});
  const fs::path bytes = trained(folder, "bytes", {"train.steps=1", "data.tokenizer=byte"});
  CHECK(warnings(bytes, {"data.tokenizer=byte"}).empty());
  CHECK(warnings(bytes, {}) ==
        std::vector<std::string>{"the weights were trained with another tokenizer: its ids do not "
                                 "mean the same; 0 is \\x00, in this run \\n"});
  CHECK(warnings(characters, {"data.tokenizer=byte"}).size() == 1);
  CHECK(warnings(characters,
                 {"data.tokenizer=byte", "train.weights_ignore=[\"tok_emb.*\", \"out_head.*\"]"})
            .empty());
  const std::string made = "data={type: synthetic, vocab_size: 21, context_length: 8}";
  CHECK(warnings(characters, {made}) == nothing_tells("with", "none"));
  const fs::path ids = trained(folder, "ids", {"train.steps=1", made});
  CHECK(warnings(ids, {made}).empty());
  CHECK(warnings(ids, {}) == nothing_tells("without", "one"));
}

TEST_CASE("weights: the positions that a model adds or turns by show in no shape") {
  const TempDir folder;
  const fs::path first = trained(folder, "first", {"train.steps=2", "model.position=sinusoidal"});
  const Plan plan =
      make_plan(load_small(folder, {"train.weights=" + first.string(), "model.position=rope"}));
  CAPTURE(heed::testing::spaced(plan.warnings));
  CHECK(plan.warnings == std::vector<std::string>{"model.position is rope, but the weights were "
                                                  "made with sinusoidal"});
}

TEST_CASE("weights: numbers that are not finite are named, before the first step") {
  const TempDir folder;
  const SafeTensors file(first_weights());
  const double too_large = is_float64 ? std::numeric_limits<double>::infinity() : 1e300;
  std::vector<std::vector<double>> numbers;
  std::vector<TensorView> views;
  for (const TensorInfo& info : file.tensors()) {
    const Array values = file.array(info.name);
    numbers.emplace_back(values.span().begin(), values.span().end());
    numbers.back().back() = info.name == "tok_emb.weight" ? too_large : numbers.back().back();
    views.push_back({info.name, Dtype::F64, info.shape, std::as_bytes(std::span(numbers.back()))});
  }
  const fs::path large = folder / "large.safetensors";
  write_safetensors(large, std::move(views));
  const std::string refused = message_of<IoError>([&] {
    trained(folder, "run", {"train.steps=1", "train.weights=" + large.string()});
  });
  CHECK(refused ==
        text(large.string(),
             is_float64 ? ": tok_emb.weight: expected finite numbers of float64, got 1 of 252 that "
                          "are NaN or infinite"
                        : ": expected finite numbers of float32, up to 3.4e38 (precision: float64 "
                          "has more), got 1e+300 as tok_emb.weight[20, 11]"));
}

TEST_CASE("weights: a file that is none is refused by its first bytes, however long it is") {
  const TempDir folder;
  const fs::path file = folder / "long";
  write_text(file, "");
  fs::resize_file(file, uintmax_t{1} << 42);  // reading it would take half an hour
  const std::string message =
      message_of<IoError>([&] { load_small(folder, {"train.weights=" + file.string()}); });
  CHECK_MESSAGE(contains(message, "the header must begin with '{'"), message);
  write_config(folder);
  CHECK(contains(message_of<IoError>([&] {
                   load_small(folder, {"train.weights=" + (folder / "text.txt").string()});
                 }),
                 "text.txt: expected a safetensors file, got another: no header begins at byte 8"));
}
