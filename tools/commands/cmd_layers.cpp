// heed layers: the values of `type:` in a config, and their fields.
#include <algorithm>
#include <cstdio>

#include "layers/schema/schema.h"
#include "tools/commands/command.h"
#include "tools/terminal/table.h"
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
  arguments.positional("NAME", o.name, "a layer, optimizer, schedule or task: its fields", false)
      .flag("--json", o.json, "the same as JSON Schema: {kind: {name: schema}}");
}

struct Section {
  const char* title;
  const ConfigTypes& types;
};

std::vector<Section> sections() {
  return {{"Layers", layer_registry().types()},
          {"Tasks (data)", task_registry().types()},
          {"Optimizers", optimizer_registry().types()},
          {"Schedules", schedule_registry().types()}};
}

int list_all() {
  for (const Section& section : sections()) {
    Table table({Align::left, Align::left});
    for (const std::string& name : section.types.names()) {
      table.add({name, section.types.find(name)->help});
    }
    std::printf("%s\n%s\n", section.title, table.text("  ").c_str());
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

// Two lines per field: its meaning and its permitted values.
void add_fields(const std::vector<FieldInfo>& fields, const std::string& indent, Table& table) {
  for (const FieldInfo& field : fields) {
    table.add({indent + field.name, field.help});
    table.add({"", "  " + expected(field) + "; " + default_words(field)});
    add_fields(field.group, indent + "  ", table);
  }
}

void show(const ConfigType& type, const std::string& kind) {
  const std::vector<FieldInfo>& fields = type.fields();
  std::printf("%s (%s): %s\n", type.name.c_str(), kind.c_str(), type.help.c_str());
  if (fields.empty()) {
    std::printf("\nIt has no fields.\n");
    return;
  }
  Table table({Align::left, Align::left});
  add_fields(fields, "", table);
  std::printf("\n%s\nExample\n%s\n", table.text("  ").c_str(), example_text(type, fields).c_str());
}

// Throws unless some type has this name.
void require_known(const std::string& name) {
  std::vector<std::string> known;
  for (const Section& section : sections()) {
    const std::vector<std::string> names = section.types.names();
    known.insert(known.end(), names.begin(), names.end());
  }
  const bool found = std::find(known.begin(), known.end(), name) != known.end();
  const std::string near = nearest(name, known);
  require<ConfigError>(
      found, "heed layers: there is no ", printable(name),
      near.empty() ? "; heed layers lists what there is" : ", did you mean " + near + "?");
}

int run(const LayersOptions& o) {
  if (!o.name.empty()) {
    require_known(o.name);
  }
  if (o.json) {
    std::vector<std::string> kinds;
    for (const Section& section : sections()) {
      kinds.push_back(section.types.kind());
    }
    std::fputs(types_schema(kinds, o.name).c_str(), stdout);
    return 0;
  }
  if (o.name.empty()) {
    return list_all();
  }
  int shown = 0;  // "linear" is both a layer and a schedule
  for (const Section& section : sections()) {
    if (const ConfigType* type = section.types.find(o.name)) {
      std::fputs(shown++ > 0 ? "\n" : "", stdout);
      show(*type, section.types.kind());
    }
  }
  return 0;
}

}  // namespace

Command layers_command() {
  return command<LayersOptions>("layers", "layers, tasks, optimizers, schedules and their fields",
                                "heed layers multi_head_attention", declare, run);
}

}  // namespace heed::cli
