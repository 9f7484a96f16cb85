// Whether a language model sees the tokens that it has to predict.
#pragma once

#include "layers/module/module.h"
#include "train/data/dataset.h"

namespace heed {

// True if the data asks for the next token at each place (targets_t = ids_{t+1}) and an output of
// the model changes with later tokens. Runs it in evaluation mode on two rows: an example, and the
// same one with other tokens from its middle on. False for all other data.
bool sees_next_tokens(Module& model, const Dataset& data);

}  // namespace heed
