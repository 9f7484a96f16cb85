// Vocabularies that go with weights: training that starts from them takes both.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heed {

// The folder of the checkpoint that `source` (source.h) means, in which its vocabularies are
// (train/tokenizers/vocabulary.h). "" if there is none, and if a pattern in `ignored` matches the
// embedding, which reads the ids: a new one has a vocabulary of its own.
std::filesystem::path vocabulary_source(const std::filesystem::path& source,
                                        const std::vector<std::string>& ignored);

// "", or what may be wrong with the ids of weights: `stored` is the tokenizer of the run that
// starts (Tokenizer::stored), and in `folder`, that of the weights, there is another one.
std::string other_tokenizer(const std::filesystem::path& folder, const std::string& stored);

// The same for the classes of a classifier (TextInterface::classes), whose numbers are the rows of
// out_head, unless a pattern in `ignored` leaves those out.
std::string other_classes(const std::filesystem::path& folder, const std::string& classes,
                          const std::vector<std::string>& ignored);

}  // namespace heed
