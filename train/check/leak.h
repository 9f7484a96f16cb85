// Whether a language model sees the tokens that it has to predict.
#pragma once

#include "layers/module/module.h"
#include "train/data/task.h"

namespace heed {

// True if the task asks for the next token at each place (targets_t = ids_{t+1}) and an output of
// the model changes with a later token. Changes the last token of one example and runs the model
// twice in evaluation mode. False for every other task.
bool sees_next_tokens(Module& model, const Task& task);

}  // namespace heed
