// heed import: a model of Hugging Face's transformers as a run, which the other commands take.
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "autograd/array/storage.h"
#include "autograd/base/rethrow.h"
#include "autograd/random/streams.h"
#include "autograd/threads/machine.h"
#include "layers/config/values.h"
#include "layers/text/display.h"
#include "tools/command.h"
#include "tools/extras/bpe/train/read.h"
#include "tools/extras/bpe/train/write.h"
#include "tools/extras/hugging_face/train/adapter.h"
#include "tools/extras/hugging_face/train/folder.h"
#include "tools/extras/hugging_face/train/json.h"
#include "tools/extras/hugging_face/train/tokenizer_files.h"
#include "tools/extras/report/pages/output_file.h"
#include "tools/terminal/table.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/state_dict.h"
#include "train/config/run_config.h"
#include "train/files/files.h"
#include "train/files/human_readable.h"
#include "train/plan.h"
#include "train/run/metrics.h"

namespace heed::cli {

namespace {

namespace fs = std::filesystem;
using ImportJson = nlohmann::ordered_json;

constexpr const char* as_training =
    " --set data.path=my.txt --set 'train={steps: 500, batch_size: 16}' --set optimizer.lr=1e-4 "
    "--set checkpoint={}";
constexpr int64_t longest_window = 1024;  // of evaluations, where the model can read more

struct ImportOptions {
  std::string folder;
  std::optional<std::string> out;
  std::optional<std::string> tokenizer;
  std::optional<std::string> base;
  bool json = false;
};

void declare(Arguments& arguments, ImportOptions& o) {
  arguments
      .positional("DIR", o.folder,
                  "config.json and model.safetensors, or its index; or peft's adapter")
      .path()
      .option("--out", o.out, "the run folder to write, a new one (default: runs/DIR)")
      .path()
      .option("--tokenizer", o.tokenizer, "tokenizer.json, or none (default: that of DIR)")
      .path()
      .option("--base", o.base, "of an adapter: the folder of the model that it was trained on")
      .path()
      .flag("--json", o.json, "one JSON object on standard output");
}

// What is read of the folder before anything is written.
struct Source {
  // adapter: a folder of peft to be merged, or "".
  Source(const std::string& folder, std::string of_adapter)
      : adapter(std::move(of_adapter)),
        config(fs::path(folder) / "config.json"),
        json(read_json(config)),
        imported(model_of_json(json, config.string())),
        own(own_model_of_json(json)),
        generation(read_generation(folder)),
        weights(weights_file(folder)) {}

  std::string adapter;
  fs::path config;
  ConfigNode json;
  ImportedModel imported;
  ConfigNode own;  // what heed itself wrote into config.json, if it still fits the rest
  Generation generation;
  FolderWeights weights;
};

// The text of a tokenizer.json; "" for a run without a tokenizer.
std::string tokenizer_text(const ImportOptions& o, int64_t vocab_size, Generation& generation) {
  std::vector<std::string>& notes = generation.notes;
  const std::string path = o.tokenizer.value_or(find_tokenizer(o.folder).string());
  if (path == "none") return "";
  if (path.empty()) {
    notes.push_back(o.folder + " has no tokenizer: the run knows ids, no text; --tokenizer gives " +
                    "it one");
    return "";
  }
  std::error_code error;
  BpeModel model;
  try {
    const fs::path file = fs::is_directory(path, error) ? find_tokenizer(path) : fs::path(path);
    require<IoError>(!file.empty(), path, ": expected a folder with tokenizer.json");
    model = read_bpe(file);
  } catch (const IoError& failed) {
    const std::string what = failed.what();
    const char* const next = what.find('\n') == std::string::npos ? "; " : "\n";
    fail<IoError>(what, o.tokenizer ? "" : next + text("--tokenizer none imports without it"));
  }
  if (model.adds_tokens) {
    generation.special_tokens = true;
    notes.push_back(path + ": post_processor: " + adds_none);
  }
  if (!o.tokenizer) {
    for (const std::string& line : said_otherwise(o.folder, model)) notes.push_back(line);
  }
  const auto size = static_cast<int64_t>(model.tokens.size());
  require<ConfigError>(size <= vocab_size, path, ": has ", grouped(size), " tokens, the model ",
                       grouped(vocab_size), "; expected at most as many");
  if (const int64_t added = pad_vocabulary(model, vocab_size); added > 0) {
    notes.push_back(text(path, ": has ", grouped(size), " tokens, the model ", grouped(vocab_size),
                         ": the last ", grouped(added), " are called <|unused_", size,
                         "|> and so on"));
  }
  return bpe_to_json(model);
}

// The config of the run. tokenizer: the path of its file; "": none.
ConfigNode run_config(const ConfigNode& model, const fs::path& tokenizer,
                      const Generation& generation) {
  const std::optional<int64_t> length = whole_number(model.get("context_length"));
  const int64_t window = std::min(longest_window, length.value_or(longest_window));
  ConfigNode data =
      tokenizer.empty()
          ? ConfigNode::map({{"type", "synthetic"}, {"vocab_size", model.get("vocab_size")}})
          : ConfigNode::map({{"type", "text"}, {"path", ""}});
  if (!tokenizer.empty()) {
    data.set("tokenizer", ConfigNode::map({{"type", "bpe"},
                                           {"path", fs::absolute(tokenizer).string()},
                                           {"special_tokens", generation.special_tokens}}));
  }
  data.set("context_length", window);
  return ConfigNode::map(
      {{"data", data},
       {"model", model},
       {"train", ConfigNode::map({{"steps", 1}, {"batch_size", 1}})},
       {"checkpoint", ConfigNode::map({{"optimizer_state", false}})},
       {"sample", ConfigNode::map({{"end", ConfigNode::list({generation.ends.begin(),
                                                             generation.ends.end()})}})}});
}

// Compares the weights with the shapes of the model, and the model with the memory there is, before
// any is taken.
void rehearse(const LayerChoice& model, const Architecture& architecture,
              const FolderWeights& weights) {
  const DryRun dry;
  const int64_t before = pool::stats().live_bytes;
  const std::unique_ptr<Module> made = make_layer(model);
  const int64_t needed = pool::stats().live_bytes - before;
  check_weights(architecture, dynamic_cast<const Gpt&>(*made), weights, nothing_ignored);
  const int64_t available = memory().available;
  require<ConfigError>(needed <= available, "heed import: the model needs ", bytes_text(needed),
                       " of memory, this machine has ", bytes_text(available), " for it");
}

// Reads the config as that of any run, from the folder that is about to be one.
LoadedRun load(const Source& source, const ConfigNode& model, const fs::path& tokenizer,
               const fs::path& inside) {
  return with_place<ConfigError>(source.config.string() + ": ", [&] {
    return load_run(RunTree(run_config(model, tokenizer, source.generation)), inside,
                    Purpose::train, inside);
  });
}

// A prompt that the tokenizer knows: "The ", else its first token that begins with a letter or a
// digit, or with a character beyond ASCII; "" if it has none, or if there is no tokenizer.
std::string known_prompt(const Task& task) {
  const Tokenizer* const tokenizer = task.tokenizer();
  if (tokenizer == nullptr) return "";
  std::vector<std::string> candidates{"The "};
  for (int32_t id = 0; id < tokenizer->vocab_size(); ++id) {
    candidates.push_back(tokenizer->decode({&id, 1}));
  }
  for (const std::string& each : candidates) {
    const auto first = static_cast<unsigned char>(each.empty() ? ' ' : each[0]);
    if ((first >= 0x80 || std::isalnum(first) != 0) && printable(each) == each &&
        task.mistake_in_prompt(each).empty()) {
      return each;
    }
  }
  return "";
}

struct Written {
  int64_t parameters = 0;
  std::string prompt;  // known_prompt()
};

// Writes the run into an empty folder. Returns nothing if the weights do not fit `model`, which the
// folder's config.json has as heed's own.
std::optional<Written> write_run(const Source& source, const ConfigNode& model,
                                 const fs::path& tokenizer, const fs::path& inside) {
  const Architecture& architecture = *source.imported.architecture;
  const LoadedRun run = load(source, model, tokenizer, inside);
  apply_settings(run.config);
  addressable("heed import: the model", "",
              [&] { rehearse(run.config.model, architecture, source.weights); });
  const std::unique_ptr<Module> made = make_layer(run.config.model);
  const bool same =
      load_weights(architecture, dynamic_cast<Gpt&>(*made), source.weights, nothing_ignored);
  if (!same) return {};
  if (!source.adapter.empty()) {
    merge_adapter_folder(source.adapter, architecture, dynamic_cast<Gpt&>(*made));
  }
  TrainingState state;
  state.streams = streams().state();
  std::map<std::string, std::string> texts = run.texts();
  if (!source.generation.chat_template.empty()) {
    texts[stored_chat_template] = source.generation.chat_template;
  }
  save_checkpoint(inside, *made, nullptr, state, texts, {}, run.made_with());
  write_file_atomically(inside / "config.yaml", run.texts().at("config.yaml"));
  MetricsWriter::resume(inside / "metrics.csv", 0).flush_to_disk();
  return Written{made->parameter_count(), known_prompt(*run.task)};
}

// Prefers the config that heed itself wrote into config.json, if it still fits.
Written write_best(const Source& source, const std::string& tokenizer, const fs::path& out,
                   const fs::path& inside) {
  fs::path path;
  if (!tokenizer.empty()) {
    write_file_atomically(inside / stored_tokenizer, tokenizer);
    path = out / stored_tokenizer;
  }
  std::optional<Written> written;
  if (!source.own.is_absent()) {
    try {
      written = write_run(source, source.own, path, inside);
    } catch (const IoError&) {  // biases that are no longer zeros; if it is more, see below
    }
  }
  if (!written) written = write_run(source, source.imported.model, path, inside);
  require<IoError>(written.has_value(), source.weights.path(), ": has numbers where this ",
                   source.imported.architecture->model_type, " has none");
  return *written;
}

// For a name of Hugging Face's hub, such as gpt2 or openai-community/gpt2; else "".
std::string how_to_get(const std::string& name) {
  const fs::path path = name;
  const bool of_hub = is_plain_name(path.filename().string()) &&
                      (path.parent_path().empty() || is_plain_name(path.parent_path().string()));
  return !of_hub || is_there(path)
             ? ""
             : text("; heed downloads nothing: hf download ", shell_word(name), " --local-dir ",
                    shell_word(path.filename().string()), " makes such a folder");
}

// The folder of the model: DIR, or what an adapter in DIR was trained on.
ImportOptions with_base(ImportOptions o) {
  if (!is_adapter(o.folder)) {
    require<ConfigError>(!o.base, "heed import: --base: ", o.folder,
                         " is not an adapter: it has no adapter_config.json");
    return o;
  }
  const std::string named = base_of_adapter(o.folder);
  require<ConfigError>(o.base || !named.empty(), "heed import: ", o.folder,
                       " is an adapter, which does not name its base; --base DIR does");
  o.folder = o.base.value_or(named);
  return o;
}

// The first free name of runs/DIR, runs/DIR-2, ..., as for `heed train`.
std::string free_name(const std::string& folder) {
  std::error_code unknown;
  const std::string first = "runs/" + fs::weakly_canonical(folder, unknown).filename().string();
  std::string name = first;
  for (int64_t number = 2; is_there(name); ++number) name = text(first, "-", number);
  return name;
}

int run(const ImportOptions& given) {
  const fs::path out =
      new_folder("heed import: --out", given.out.value_or(free_name(given.folder)));
  const ImportOptions o = with_base(given);
  const std::string adapter = o.folder == given.folder ? "" : given.folder;
  std::error_code error;
  const bool is_folder = fs::is_directory(o.folder, error);
  const bool is_missing = error == std::errc::no_such_file_or_directory;
  require<IoError>(is_folder, o.folder, ": expected a folder with config.json and weights: ",
                   error && !is_missing ? error.message() : "not a folder", how_to_get(o.folder));
  require_precision("float32");
  Source source(o.folder, adapter);
  std::vector<std::string>& notes = source.generation.notes;
  if (source.json.has("heedgrad") && source.own.is_absent()) {
    notes.push_back(source.config.string() + ": heedgrad.model is another model than the rest of " +
                    "the file says, which is taken");
  }
  const int64_t vocab_size = whole_number(source.imported.model.get("vocab_size")).value_or(0);
  const std::string tokenizer = tokenizer_text(o, vocab_size, source.generation);
  Written written;
  write_new_folder(
      out, [&](const fs::path& inside) { written = write_best(source, tokenizer, out, inside); });

  print_lines(stderr, notes);
  const std::string& type = source.imported.architecture->model_type;
  print_line(o.json ? stderr : stdout,
             text(out.string(), ": ", type, ", ", grouped(written.parameters), " parameters, ",
                  grouped(vocab_size), " tokens",
                  adapter.empty() ? "" : "; " + adapter + " is merged into it"));
  if (o.json) {
    print_object(ImportJson({{"out", printable(out.string(), 4096)},
                             {"type", type},
                             {"parameters", written.parameters},
                             {"vocab_size", vocab_size},
                             {"tokenizer", !tokenizer.empty()}}));
  } else if (!tokenizer.empty()) {
    const std::string& prompt = written.prompt;
    print_line(stdout, "  heed generate " + shell_word(out.string()) +
                           (prompt.empty() ? "" : " --prompt " + shell_word(prompt)));
    print_line(stdout, "  heed train " + shell_word((out / "config.yaml").string()) +
                           " --weights " + shell_word(out.string()) + " --out " +
                           shell_word(out.string() + "_tuned") + as_training);
  }
  return 0;
}

}  // namespace

Command import_command() {
  return command<ImportOptions>("import", "a model of Hugging Face's transformers as a run",
                                "heed import SmolLM2-135M", declare, run, Group::exchange);
}

}  // namespace heed::cli
