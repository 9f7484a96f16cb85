// Vocabularies that go with weights, compared with those of a run that starts from them.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "train/tokenizers/tokenizer.h"

namespace heed {

// The tokenizer that the weights of a file were trained with: that of the run, or of the folder of
// another system, that the file is in. Null if there is none. Throws Error for one that cannot be
// read.
std::unique_ptr<Tokenizer> tokenizer_of_weights(const std::filesystem::path& file);

// "", or what is wrong with the ids of weights that were trained with the tokenizer `theirs`, in a
// run with `ours`; with the first id of another meaning.
std::string other_tokenizer(const Tokenizer& theirs, const Tokenizer& ours);

// The same for the classes of a classifier (Task::classes), whose numbers are the rows of
// out_head, unless a pattern in `ignored` leaves those out.
std::string other_classes(const std::filesystem::path& folder, const std::string& classes,
                          const std::vector<std::string>& ignored);

}  // namespace heed
