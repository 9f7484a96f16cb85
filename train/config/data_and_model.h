// What the data and the model of a config take from each other: a text decides the number of
// tokens, a model how long the windows of the text are.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "layers/config/read.h"
#include "train/data/task.h"

namespace heed {

// The fields of models that data may decide. (Vectors decide d_model too, but no text does: an
// editor goes on asking for it.)
inline const std::vector<std::string> sized_by_data{
    "vocab_size", "context_length", "source_vocab_size", "source_length", "num_classes",
    "d_in",       "d_out"};

// Gives the section `model` the context_length of the data, if it has none.
void share_context_length(ConfigNode& config);
// What the section `model` of a config, which has not been read yet, says to the data.
Sizes sizes_for_data(const ConfigNode& config);
// What the data says to the model. Without a task (null), guesses that break no rule of the model.
Sizes sizes_for_model(const ConfigNode& config, const Task* task);

// Once both are read: sizes that the model gives are those of the data, and the data's
// context_length does not exceed the model's.
void check_sizes(const ConfigNode& config, const Choice& data, const Choice& model,
                 const Task* task, ConfigErrors& errors);

// Adds the lines of a message, each of which begins with its place, as mistakes.
void add_lines(ConfigErrors& errors, const std::string& message);

// Makes the task of the section `data`. Mistakes go to `errors`, files that cannot be read to
// `unreadable`; null if there are any.
std::unique_ptr<Task> make_task(const ConfigNode& config, const Choice& data,
                                const TaskSetup& setup, ConfigErrors& errors,
                                ConfigErrors& unreadable);

}  // namespace heed
