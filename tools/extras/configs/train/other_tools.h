// What nanoGPT, Hugging Face, PyTorch, Lightning, the book and others call the fields and values of
// a config: "unknown key" then becomes "here it is d_model". One table for all sections and types.
#pragma once

#include "layers/config/other_words.h"

namespace heed {

class OtherTools final : public OtherWords {
 public:
  std::vector<OtherWord> of_field(const std::string& owner,
                                  const std::string& field) const override;
  bool is_value(const std::string& word, const std::string& value) const override;
  std::string about_key(const std::string& key) const override;

  // The types and sections, and the field of each, that the table names. A test compares them with
  // those that exist.
  static std::vector<std::pair<std::string, std::string>> fields();
};
HEED_WORDS(OtherTools, "other_tools");

}  // namespace heed
