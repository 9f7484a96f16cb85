// heed export: a trained model as a folder that Hugging Face's transformers opens.
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "layers/text/display.h"
#include "tools/commands/run.h"
#include "tools/extras/fine_tuning/train/instructions_task.h"
#include "tools/extras/hugging_face/train/adapter.h"
#include "tools/extras/hugging_face/train/export.h"
#include "tools/extras/hugging_face/train/folder.h"
#include "tools/extras/hugging_face/train/json.h"
#include "tools/extras/hugging_face/train/model_config.h"
#include "tools/extras/report/pages/output_file.h"
#include "tools/terminal/table.h"
#include "train/checkpoint/checkpoint.h"
#include "train/extras/optimizers/averaged_weights.h"
#include "train/files/human_readable.h"
#include "train/run/resume.h"

namespace heed::cli {

namespace {

namespace fs = std::filesystem;
using ExportJson = nlohmann::ordered_json;

struct ExportOptions {
  std::string run;
  std::string folder;
  std::vector<std::string> sets;
  std::optional<std::string> dtype;
  bool merge = false;
  bool adapter = false;
  bool json = false;
};

void declare(Arguments& arguments, ExportOptions& o) {
  arguments.run(o.run)
      .positional("DIR", o.folder, "the folder to write; it must not exist yet")
      .path()
      .option("--dtype", o.dtype, "of the weights: float32 (default) or bfloat16")
      .offers({{"float32", ""}, {"bfloat16", ""}})
      .flag("--merge", o.merge, "of a run with train.lora: the base, with what was learned in it")
      .flag("--adapter", o.adapter, "of such a run: what was learned alone, for peft")
      .option("--set", o.sets, set_of_run)
      .flag("--json", o.json, "one JSON object on standard output");
}

Dtype dtype_of(const ExportOptions& o) {
  const std::string name = o.dtype.value_or("float32");
  require<ConfigError>(name == "float32" || name == "bfloat16",
                       "heed export: expected --dtype float32 or bfloat16, got ", printable(name));
  return name == "float32" ? Dtype::F32 : Dtype::BF16;
}

// The model, and that transformers has its architecture.
const Gpt& exportable(const Module& model, const LoadedRun& run) {
  const auto* const gpt = dynamic_cast<const Gpt*>(&model);
  require<ConfigError>(gpt != nullptr, "heed export: model.type: expected gpt, got ",
                       run.config.model.type(), ", which transformers does not have");
  const std::string wrong = export_obstacle(architecture_of(gpt->config), *gpt);
  require<ConfigError>(wrong.empty(), "heed export: no architecture of transformers holds this ",
                       "model exactly: ", wrong);
  return *gpt;
}

// A text of Python.
std::string python_text(const std::string& text) {
  return ExportJson(printable(text, 4096)).dump();
}

// A run of train.lora can be written in two ways, any other in none of them.
void check_choice(const ExportOptions& o, bool is_lora) {
  require<ConfigError>(!o.merge || !o.adapter, "heed export: --merge or --adapter, not both");
  require<ConfigError>(is_lora || !(o.merge || o.adapter),
                       "heed export: ", o.merge ? "--merge" : "--adapter", ": ", o.run,
                       " was not trained with train.lora");
  require<ConfigError>(!is_lora || o.merge || o.adapter, "heed export: ", o.run,
                       " was trained with train.lora: --merge writes the whole model, --adapter ",
                       "what was learned, for peft");
}

// How transformers asks a run of `instructions`: in its template, after what was said before.
std::string chat_template(const InstructionsTask& task) {
  const auto quoted = [](const std::string& text) { return ExportJson(text).dump(); };
  const std::string slot = "\\u0001", content = "\" + message['content'] + \"";
  std::string asked = quoted(task.form().fill({"\u0001", ""}));
  for (size_t at = 0; (at = asked.find(slot, at)) != std::string::npos; at += content.size()) {
    asked.replace(at, slot.size(), content);
  }
  const int32_t id = *task.end_token();
  const std::string end = task.tokenizer()->decode({&id, 1});
  return "{%- for message in messages -%}{%- if message['role'] == 'user' -%}{{- " + asked +
         " -}}{%- elif message['role'] == 'assistant' -%}{{- message['content'] + " +
         quoted(end.empty() ? task.tokenizer()->name(id) : end) +
         " -}}{%- else -%}{{- raise_exception('expected the roles user and assistant') -}}" +
         "{%- endif -%}{%- endfor -%}\n";
}

ExportJob job_of(const TrainedRun& trained, const fs::path& checkpoint, Dtype dtype) {
  const Task& task = *trained.loaded.task;
  ExportJob job{exportable(*trained.model, trained.loaded), trained.loaded.resolved.get("model"),
                task.tokenizer(), dtype, trained.loaded.config.sample.end};
  if (const std::optional<int32_t> end = task.end_token()) {
    std::erase(job.ends, *end);
    job.ends.insert(job.ends.begin(), *end);
  }
  job.begin = task.start_token();
  if (const auto* const asked = dynamic_cast<const InstructionsTask*>(&task)) {
    job.chat_template = chat_template(*asked);
  } else if (is_there(checkpoint / stored_chat_template)) {
    job.chat_template = read_file(checkpoint / stored_chat_template, json_limits::config_bytes);
  }
  return job;
}

// The model alone is asked for its shape: an adapter can be written when its base is gone.
int export_adapter(const ExportOptions& o, const fs::path& folder, const RunArgument& from) {
  require<ConfigError>(!o.dtype,
                       "heed export: --adapter: is written in float32; leave --dtype out");
  const LoadedRun run = load_run(read_run_tree(from.run / "config.yaml", o.sets), from.run,
                                 Purpose::model, from.checkpoint);
  check_choice(o, run.resolved.get("train").has("lora"));
  require_same_model(from.checkpoint / "config.yaml", from.run / "config.yaml", run.resolved);
  const ConfigNode& train = run.resolved.get("train");
  require<ConfigError>(train.get("lora").get("modules_to_save").size() == 0,
                       "heed export: --adapter: train.lora.modules_to_save trains whole layers, ",
                       "which are not written; --merge writes them too");
  const std::unique_ptr<Module> made = make_layer(run.config.model);
  const Gpt& model = exportable(*made, run);
  const std::string weights = train.get("weights").text();
  const fs::path mean = mean_of(run);
  const SafeTensors learned(mean.empty() ? from.checkpoint / "model.safetensors" : mean);
  int64_t count = 0;
  write_new_folder(folder, [&](const fs::path& inside) {
    count = write_adapter(inside, {train.get("lora"), learned, model,
                                   is_hugging_face_folder(weights) ? weights : ""});
  });
  print_line(o.json ? stderr : stdout,
             text(folder.string(), ": ", grouped(count), " parameters for ",
                  architecture_of(model.config).class_name));
  if (o.json) {
    print_object(ExportJson({{"out", printable(folder.string(), 4096)}, {"parameters", count}}));
  } else {
    std::printf("from peft import PeftModel\nmodel = PeftModel.from_pretrained(base, %s)\n",
                python_text(folder.string()).c_str());
  }
  return 0;
}

int run(const ExportOptions& o) {
  const Dtype dtype = dtype_of(o);
  const fs::path folder = new_folder("heed export: DIR", o.folder);
  std::vector<std::string> warnings;
  const RunArgument from = resolve_run(o.run, warnings);
  if (o.adapter) {
    print_lines(stderr, warnings);
    return export_adapter(o, folder, from);
  }
  const TrainedRun trained = load_to_ask(o.run, o.sets);
  check_choice(o, trained.loaded.resolved.get("train").has("lora"));
  const ExportJob job = job_of(trained, from.checkpoint, dtype);
  const Gpt& model = job.model;
  bool has_tokenizer = false;
  write_new_folder(folder,
                   [&](const fs::path& in) { has_tokenizer = write_hugging_face(in, job); });

  const Architecture& architecture = architecture_of(model.config);
  const std::string type_name = dtype == Dtype::F32 ? "float32" : "bfloat16";
  print_line(
      o.json ? stderr : stdout,
      text(folder.string(), ": ", architecture.model_type, ", ", grouped(model.parameter_count()),
           " parameters in ", type_name,
           has_tokenizer              ? ", with its tokenizer"
           : job.tokenizer == nullptr ? ", without a tokenizer: the run has none"
                                      : ", without a tokenizer: that of this task has no file"));
  if (o.json) {
    print_object(ExportJson({{"out", printable(folder.string(), 4096)},
                             {"type", architecture.model_type},
                             {"parameters", model.parameter_count()},
                             {"dtype", type_name},
                             {"tokenizer", has_tokenizer}}));
    return 0;
  }
  const std::string path = python_text(folder.string());
  std::printf("from transformers import AutoModelForCausalLM%s\n",
              has_tokenizer ? ", AutoTokenizer" : "");
  std::printf("model = AutoModelForCausalLM.from_pretrained(%s)\n", path.c_str());
  if (has_tokenizer) std::printf("tokenizer = AutoTokenizer.from_pretrained(%s)\n", path.c_str());
  return 0;
}

}  // namespace

Command export_command() {
  return command<ExportOptions>("export", "a trained model for Hugging Face's transformers",
                                "heed export runs/shakespeare my_model", declare, run,
                                Group::exchange);
}

}  // namespace heed::cli
