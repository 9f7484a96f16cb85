// What is checked when all sections of a config have been read.
#pragma once

#include <string>

#include "autograd/base/rethrow.h"
#include "train/config/run_config.h"

namespace heed {

// Says where a key of another section, or a word of another tool, is a field: "here it is
// optimizer.lr". A field given by such a word does not count as missing.
void find_other_places(RunConfig& config, ConfigErrors& errors);

// Checks the rules that involve several sections, or a section and the data, as far as these were
// read without a mistake. `task` is null if the data was not.
void check_together(const RunConfig& config, const ConfigNode& tree, const Task* task,
                    ConfigErrors& errors);

// Calls step(). The message of an E that it throws is a mistake in a field of a section.
template <class E = ConfigError, class Step>
void attempt(ConfigErrors& errors, const ConfigNode& section, const std::string& field,
             const Step& step) {
  if (const auto wrong = error_of<E>(step)) {
    errors.add_field(section, field, *wrong);
  }
}

// Removes mistakes about unknown types: a plugin that was not loaded may have them.
void excuse_unknown_types(ConfigErrors& errors);

// Removes other mistakes where a YAML alias stands: the value that it means was not read.
void excuse_aliases(ConfigErrors& errors);

}  // namespace heed
