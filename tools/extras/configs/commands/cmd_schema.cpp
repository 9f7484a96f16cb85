// heed schema: the JSON Schema of a config, for editors and validators.
#include <cstdio>

#include "tools/command.h"
#include "tools/extras/configs/schema.h"
#include "train/config/run_hooks.h"

namespace heed::cli {

namespace {

struct SchemaOptions {};

void declare(Arguments&, SchemaOptions&) {}

int run(const SchemaOptions&) {
  for_each_hook([](const RunHooks& each) { each.require_this_precision(); });
  std::fputs(config_schema().c_str(), stdout);
  return 0;
}

}  // namespace

Command schema_command() {
  return command<SchemaOptions>("schema", "JSON Schema of a config, for editors and validators",
                                "heed schema > heed.schema.json", declare, run, Group::train);
}

}  // namespace heed::cli
