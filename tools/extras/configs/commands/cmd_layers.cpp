// heed layers: the sections of a config, the values of `type:`, and the fields of each.
#include <algorithm>
#include <cstdio>

#include "layers/config/left_out.h"
#include "layers/config/other_words.h"
#include "layers/config/values.h"
#include "tools/command.h"
#include "tools/extras/checks/layers/variants.h"
#include "tools/extras/configs/schema.h"
#include "tools/terminal/table.h"
#include "train/config/run_config.h"
#include "train/config/run_hooks.h"
#include "train/data/task.h"
#include "train/optim/optimizer.h"
#include "train/optim/schedule.h"

namespace heed::cli {

namespace {

struct LayersOptions {
  std::string name;
  bool json = false;
};

void declare(Arguments& arguments, LayersOptions& o) {
  arguments
      .positional("NAME", o.name,
                  "a section, layer, task, tokenizer, optimizer, schedule or adapter: its fields",
                  false)
      .flag("--json", o.json, "the types as JSON Schema: {kind: {name: schema}}");
}

struct Kind {
  const char* title;
  const ConfigTypes& types;
};

std::vector<Kind> kinds_of_types() {
  fill_types("adapter");
  return {{"Layers", layer_registry().types()},
          {"Tasks (data)", task_registry().types()},
          {"Tokenizers", tokenizer_registry().types()},
          {"Optimizers", optimizer_registry().types()},
          {"Schedules", schedule_registry().types()},
          {"Adapters (train.lora)", config_types("adapter")}};
}

// A line for each type of a kind.
std::string types_text(const ConfigTypes& types) {
  Table table({Align::left, Align::left});
  for (const auto& [name, type] : types) {
    table.add({name, type.help});
  }
  return table.text("  ");
}

int list_all() {
  Table sections({Align::left, Align::left});
  for (const FieldInfo& section : run_fields()) {
    sections.add({section.name, section.help});
  }
  print_text(text("Sections\n", sections.text("  "), "\n"));
  for (const Kind& kind : kinds_of_types()) {
    if (const std::string types = types_text(kind.types); !types.empty()) {
      print_text(text(kind.title, "\n", types, "\n"));
    }
  }
  std::printf("heed layers NAME shows the fields of one of them.\n");
  return 0;
}

// The example config, as it would appear in its section; fields with a default are left out.
std::string example_text(const ConfigType& type, const std::vector<FieldInfo>& fields) {
  ConfigNode config = ConfigNode::map({{"type", type.name}});
  const ConfigNode example = example_config(fields);
  for (const ConfigNode& field : example.children()) {
    config.set(field.key(), field);
  }
  std::string out = "  ";
  for (const char c : to_yaml(config)) {
    out += c;
    out += c == '\n' ? "  " : "";
  }
  out.erase(out.find_last_not_of(" \n") + 1);
  return out;
}

// What happens if the field is absent: "default 4", "required" or "optional".
std::string default_words(const FieldInfo& info) {
  if (info.required) {
    return "required";
  }
  if (info.value.has("type")) {
    return "default " + info.value.get("type").text();
  }
  const bool one_line = info.value.is_scalar() || info.value.is_list();
  if (!one_line || info.type == FieldType::part_list) {
    return "optional";
  }
  std::string written = to_yaml(info.value);
  written.erase(written.find_last_not_of('\n') + 1);
  return "default " + written;
}

// "; elsewhere emb_dim, n_embd", for a field that other tools call so. A rule stands behind the
// last word that has it. owner: the type or section that has the field.
std::string words_elsewhere(const std::string& owner, const FieldInfo& field) {
  const std::vector<OtherWord> all = other_words().of_field(owner, field.name);
  std::string words;
  for (size_t i = 0; i < all.size(); ++i) {
    const bool same_next = i + 1 < all.size() && all[i + 1].rule == all[i].rule;
    words += (i == 0 ? "; elsewhere " : ", ") + all[i].word;
    words += all[i].rule.empty() || same_next ? "" : " (" + all[i].rule + ")";
  }
  return words;
}

// Two lines per field: its meaning and its permitted values; for a part, what is filled in.
void add_fields(const std::vector<FieldInfo>& fields, const std::string& owner,
                const std::string& indent, Table& table) {
  for (const FieldInfo& field : fields) {
    table.add({indent + field.name, field.help});
    table.add({"", text("  ", expected(field), "; ", default_words(field),
                        words_elsewhere(owner, field))});
    if (!field.fills.empty()) {
      table.add({"", "  it gets, where it has such fields: " + joined(field.fills)});
    }
    add_fields(field.group, field.name, indent + "  ", table);
  }
}

void show(const ConfigType& type, const std::string& kind) {
  const std::vector<FieldInfo>& fields = type.fields();
  print_text(text(type.name, " (", kind, "): ", type.help, "\n"));
  if (fields.empty()) {
    std::printf("\nIt has no fields.\n");
    return;
  }
  Table table({Align::left, Align::left});
  add_fields(fields, type.name, "", table);
  print_text(text("\n", table.text("  "), "\nExample\n", example_text(type, fields), "\n"));
}

// A section: the fields of a group, else what its value may be.
void show(const FieldInfo& section) {
  print_text(text(section.name, " (section): ", section.help, "\n"));
  if (section.type == FieldType::group) {
    Table table({Align::left, Align::left});
    add_fields(section.group, section.name, "", table);
    print_text("\n" + table.text("  "));
    return;
  }
  print_text(text("\n  ", expected(section), "; ", default_words(section), "\n"));
  if (!section.part_kind.empty()) {
    print_text("\nTypes\n" + types_text(config_types(section.part_kind)));
  }
}

// Throws unless a section or some type has this name.
void require_known(const std::string& name, const std::vector<FieldInfo>& sections) {
  std::vector<std::string> known;
  std::string extra;
  for (const FieldInfo& section : sections) {
    known.push_back(section.name);
  }
  for (const Kind& kind : kinds_of_types()) {
    const std::vector<std::string> names = kind.types.names();
    known.insert(known.end(), names.begin(), names.end());
    extra += belongs_to_extra(kind.types.kind(), name);
  }
  const bool found = std::find(known.begin(), known.end(), name) != known.end();
  require<ConfigError>(
      found, "heed layers: there is no ", printable(name),
      " (in a plugin: heed --plugin FILE layers ", printable(name), ")",
      extra.empty() ? did_you_mean(name, known, "; heed layers lists what there is") : extra);
}

int run(const LayersOptions& o) {
  for_each_hook([](const RunHooks& each) { each.require_this_precision(); });
  const std::vector<FieldInfo> sections = run_fields();
  if (!o.name.empty()) {
    require_known(o.name, sections);
  }
  const FieldInfo* section = find_field(sections, o.name);
  if (o.json) {
    require<ConfigError>(section == nullptr, "heed layers: --json describes types, and ", o.name,
                         " is a section; heed schema describes all sections");
    std::vector<std::string> kinds;
    for (const Kind& kind : kinds_of_types()) {
      kinds.push_back(kind.types.kind());
    }
    std::fputs(types_schema(kinds, o.name).c_str(), stdout);
    return 0;
  }
  if (o.name.empty()) {
    return list_all();
  }
  int shown = 0;  // "linear" is both a layer and a schedule
  for (const Kind& kind : kinds_of_types()) {
    if (const ConfigType* type = kind.types.find(o.name)) {
      std::fputs(shown++ > 0 ? "\n" : "", stdout);
      show(*type, kind.types.kind());
    }
  }
  if (section != nullptr) {
    std::fputs(shown > 0 ? "\n" : "", stdout);
    show(*section);
  }
  return 0;
}

}  // namespace

Command layers_command() {
  return command<LayersOptions>(
      "layers", "what a config may say: sections, layers, tasks, tokenizers, optimizers, schedules",
      "heed layers multi_head_attention", declare, run, Group::train);
}

}  // namespace heed::cli
