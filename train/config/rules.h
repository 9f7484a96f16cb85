#pragma once
// What is checked when all sections of a config have been read.
#include <string>
#include <vector>

#include "train/config/run_config.h"

namespace heed {

// The words of other tools for a length of training in epochs.
inline const std::vector<std::string> epoch_words{"epochs", "num_epochs", "num_train_epochs",
                                                  "max_epochs"};

// Says where a word of another tool is a field, if not in its own section: "here it is
// optimizer.lr". A field given by such a word does not count as missing.
void explain_synonyms(RunConfig& config, ConfigErrors& errors);

// Checks the rules that involve several sections, or a section and the data, as far as these were
// read without a mistake. `task` is null if the data was not.
void check_together(const RunConfig& config, const ConfigNode& tree, const Task* task,
                    ConfigErrors& errors);

// Says how many steps the epochs of a config are, if data and batch are known.
void count_epochs(const RunConfig& config, const ConfigNode& tree, const Task* task,
                  ConfigErrors& errors);

// Says what to do about words of other tools that no field stands for, such as device.
void explain_words_without_field(ConfigErrors& errors);

// Removes mistakes about unknown types, and about their options: a plugin that was not loaded may
// have them.
void excuse_unknown_types(ConfigErrors& errors);

}  // namespace heed
