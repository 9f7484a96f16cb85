// heed inspect: the layers of a model with shapes, parameters and arithmetic, and the memory
// needed. Everything comes from a dry run, so models of any size can be inspected. Only --attention
// runs the model.
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "layers/config/fields.h"
#include "tools/command.h"
#include "tools/commands/run.h"
#include "tools/extras/inspect/inspect.h"
#include "tools/extras/inspect/layer_tree.h"
#include "tools/extras/report/pages/output_file.h"
#include "tools/terminal/table.h"
#include "train/checkpoint/checkpoint.h"
#include "train/files/files.h"
#include "train/files/human_readable.h"
#include "train/plan.h"
#include "train/run/resume.h"

namespace heed::cli {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

void declare(Arguments& arguments, InspectOptions& o) {
  arguments.config("CONFIG|RUN", o.target, "a config, a run folder or one of its checkpoints")
      .option("--set", o.sets,
              "change a value: --set model.num_layers=12; may be repeated, the last one counts")
      .option("--batch", o.batch, "sequences in the batch (default: train.batch_size, or 1)",
              in_range(1, 1'000'000))
      .flag("--attention", o.attention, "what attends to what: a heat map for each head")
      .flag("--all", o.all, "with --attention: all blocks, not the last one")
      .option("--prompt", o.prompt,
              "with --attention: what is read (default: the config's sample.prompt, or an example)")
      .option("--ids", o.ids, ids_help)
      .option("--layer", o.layer, "with --attention: only this attention layer, from 0")
      .option("--head", o.head, "with --attention: only this head of it, from 0")
      .option("--out", o.out, "with --attention: write map.svg")
      .path()
      .option("--graph", o.graph, "write the graph of a training step for graphviz: out.dot")
      .path()
      .threads()
      .flag("--json", o.json, "one JSON object on standard output");
}

struct Inspected {
  LoadedRun loaded;
  std::optional<int64_t> step;  // of the run's newest checkpoint, if it is of this model
  ModelTree tree;
  std::optional<Plan> plan;  // if the config has a train section
};

// The newest checkpoint; "" for a run without one, which is treated as a config.
fs::path newest_checkpoint(const fs::path& run) {
  std::error_code missing;
  if (fs::is_empty(run / "checkpoints", missing) || missing) {
    return {};
  }
  std::vector<std::string> warnings;
  const fs::path checkpoint = resolve_run(run, warnings).checkpoint;
  print_lines(stderr, warnings);
  return checkpoint;
}

// The file of --graph out.dot, or --graph out.
std::string graph_file(const std::string& named) {
  return named.ends_with(".dot") ? named : named + ".dot";
}

void check_graph_file(const std::string& graph, const fs::path& config, const ConfigNode& tree) {
  std::vector<InputFile> inputs = files_named_in(tree, config.parent_path());
  inputs.push_back({"the config", config});
  require_replaceable("heed inspect: --graph", graph_file(graph), inputs);
}

// How many tokens the examples of a task have, if all have as many; else 0.
int64_t length_of(const Task* task) {
  for (const auto& [name, size] :
       task != nullptr ? task->model_sizes() : decltype(task->model_sizes())()) {
    if (name == "context_length") {
      return size;
    }
  }
  return 0;
}

Inspected inspect(const InspectOptions& o) {
  Inspected out;
  fs::path config = o.target, checkpoint;
  if (std::error_code error; fs::is_directory(o.target, error)) {
    const RunArgument parsed = parse_run(config);
    checkpoint = parsed.checkpoint.empty() ? newest_checkpoint(config) : parsed.checkpoint;
    const bool same_model = std::none_of(o.sets.begin(), o.sets.end(), [](const std::string& set) {
      return set.starts_with("model");
    });
    if (!checkpoint.empty() && same_model) {
      out.step = read_manifest(checkpoint).step;
    }
    config = parsed.run / "config.yaml";
  }
  RunTree tree = read_run_tree(config, o.sets);
  if (o.graph) {
    check_graph_file(*o.graph, config, tree.root);
  }
  require_precision(tree.root.get("precision").text() == "float64" ? "float64" : "float32");
  out.loaded = load_run(std::move(tree), config.parent_path(), Purpose::model, checkpoint);
  if (!checkpoint.empty() && o.sets.empty()) {
    require_same_model(checkpoint / "config.yaml", config, out.loaded.resolved);
  }
  RunConfig& run = out.loaded.config;
  run.train.batch_size = o.batch.value_or(run.train.batch_size);
  out.tree = layer_tree(run.model, std::max<int64_t>(1, run.train.batch_size),
                        length_of(out.loaded.task.get()));
  if (out.loaded.task && run.train.batch_size > 0) {
    out.plan = make_plan(out.loaded);
  }
  return out;
}

std::string own_text(const LayerNode& node) {
  std::string out;
  for (const LayerNode::OwnParameter& parameter : node.own) {
    out += (out.empty() ? "" : ", ") + parameter.name;
    for (int axis = 0; axis < parameter.shape.rank(); ++axis) {
      out += text(axis == 0 ? " " : " x ", parameter.shape[axis]);
    }
    out += parameter.tied ? " (tied)" : "";
  }
  return out;
}

bool alike(const LayerNode& a, const LayerNode& b) {
  return a.type == b.type && a.output == b.output && a.parameters == b.parameters &&
         a.flops == b.flops && own_text(a) == own_text(b) &&
         std::equal(a.children.begin(), a.children.end(), b.children.begin(), b.children.end(),
                    alike);
}

std::string flops_text(int64_t flops) {
  return flops == 0 ? "" : short_number(static_cast<double>(flops));
}

void add_rows(const LayerNode& node, const std::string& indent, Table& table) {
  table.add({indent + (node.name.empty() ? "model" : node.name), node.type,
             node.calls > 0 ? text(node.output) : "not used",
             node.parameters == 0 ? "" : grouped(node.parameters), flops_text(node.flops),
             own_text(node)});
  for (size_t i = 0; i < node.children.size(); ++i) {
    const LayerNode& child = node.children[i];
    add_rows(child, indent + "  ", table);
    // Merges equal siblings into one line: the blocks of a GPT, the heads of a wrapper.
    size_t next = i + 1;
    while (next < node.children.size() && !child.children.empty() &&
           alike(child, node.children[next])) {
      ++next;
    }
    const auto more = static_cast<int64_t>(next - i - 1);
    if (more > 0) {
      table.add({indent + "  " + (more == 1 ? "" : "... ") + node.children[next - 1].name,
                 text(more, " more like ", child.name), "", grouped(more * child.parameters),
                 flops_text(more * child.flops)});
      i = next - 1;
    }
  }
}

void print(const Inspected& it) {
  const LayerNode& root = it.tree.root;
  Table layers({Align::left, Align::left, Align::left, Align::right, Align::right, Align::left});
  layers.add({"layer", "type", "output", "parameters", "FLOPs", "of its own"});
  add_rows(root, "", layers);
  print_text(layers.text() + "\n");

  Table totals({Align::left, Align::left});
  if (it.step) {
    totals.add({"checkpoint", text("step ", *it.step)});
  }
  totals.add({"input", it.tree.input});
  totals.add({"parameters", text(grouped(root.parameters), ", ", precision_name)});
  totals.add({"forward", text(short_number(static_cast<double>(root.flops)), "FLOP, ",
                              short_number(static_cast<double>(root.flops / it.tree.tokens)),
                              "FLOP a token")});
  if (!it.plan) {
    totals.add(
        {"memory", text("weights ", bytes_text(it.tree.weight_bytes),
                        ", activations of a forward pass ", bytes_text(it.tree.activation_bytes))});
  }
  print_text(totals.text());
  if (it.plan) {
    std::printf("\nTraining\n");
    const Plan& plan = *it.plan;
    Table training({Align::left, Align::left});
    training.add({"step", text(grouped(plan.tokens_per_step),
                               plan.counts_tokens ? " tokens, " : " targets, ",
                               short_number(static_cast<double>(plan.flops_per_step)), "FLOP")});
    training.add(
        {"memory", text(bytes_text(plan.total_bytes()), ": weights ", bytes_text(plan.weight_bytes),
                        ", gradients ", bytes_text(plan.gradient_bytes), ", optimizer ",
                        bytes_text(plan.optimizer_bytes), ",")});
    training.add({"", text("activations ", activations_text(plan), ", program and data ",
                           bytes_text(plan.process_bytes))});
    print_text(training.text("  "));
  }
}

Json as_json(const LayerNode& node) {
  Json own = Json::array(), children = Json::array();
  for (const LayerNode::OwnParameter& parameter : node.own) {
    own.push_back(
        {{"name", parameter.name}, {"shape", parameter.shape.dims()}, {"tied", parameter.tied}});
  }
  for (const LayerNode& child : node.children) {
    children.push_back(as_json(child));
  }
  return {{"name", node.name},
          {"type", node.type},
          {"calls", node.calls},
          {"output", node.output.dims()},
          {"parameters", node.parameters},
          {"flops", node.flops},
          {"own", std::move(own)},
          {"children", std::move(children)}};
}

Json as_json(const Inspected& it) {
  const LayerNode& root = it.tree.root;
  Json out{
      {"type", root.type},
      {"precision", precision_name},
      {"input", it.tree.input},
      {"parameters", root.parameters},
      {"flops_forward", root.flops},
      {"flops_forward_per_token", root.flops / it.tree.tokens},
      {"memory_bytes",
       {{"weights", it.tree.weight_bytes}, {"forward_activations", it.tree.activation_bytes}}}};
  if (it.step) {
    out["step"] = *it.step;
  }
  if (it.plan) {
    out["training"] = {{"tokens_per_step", it.plan->tokens_per_step},
                       {"flops_per_step", it.plan->flops_per_step},
                       {"memory_bytes",
                        {{"total", it.plan->total_bytes()},
                         {"weights", it.plan->weight_bytes},
                         {"gradients", it.plan->gradient_bytes},
                         {"optimizer", it.plan->optimizer_bytes},
                         {"activations", it.plan->activation_bytes},
                         {"process", it.plan->process_bytes}}}};
  }
  out["tree"] = as_json(root);
  return out;
}

int run(const InspectOptions& o) {
  require<ConfigError>(o.attention || (!o.prompt && !o.ids),
                       "heed inspect: ", o.prompt ? "--prompt" : "--ids",
                       " is what --attention looks at; give both");
  require<ConfigError>(!o.prompt || !o.ids, "heed inspect: --prompt and --ids: give one of them");
  require<ConfigError>(
      o.attention || (!o.layer && !o.head && !o.all),
      "heed inspect: --layer, --head and --all choose what --attention shows; give it too");
  require<ConfigError>(!o.all || !o.layer, "heed inspect: --all and --layer: give one of them");
  require<ConfigError>(o.attention || !o.out,
                       "heed inspect: --out is where the maps of --attention go; give it too");
  require<ConfigError>(!o.attention || (!o.graph && !o.batch),
                       "heed inspect: --attention goes without --graph and --batch");
  if (o.attention) {
    return inspect_attention(o);
  }
  const Inspected it = inspect(o);
  if (o.graph) {
    write_file_atomically(graph_file(*o.graph), graph_in_dot(it.loaded));
    print_line(stderr, written(graph_file(*o.graph)));
  }
  if (o.json) {
    std::printf("%s\n", as_json(it).dump().c_str());
  } else {
    print(it);
  }
  return 0;
}

}  // namespace

Command inspect_command() {
  return command<InspectOptions>("inspect",
                                 "layers, shapes, parameters and memory; attention maps; graphs",
                                 "heed inspect quickstart", declare, run, Group::look);
}

}  // namespace heed::cli
