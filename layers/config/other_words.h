// The door for words of other tools: what they call the fields and values of a config. The core has
// none. Without a table of them, the message about an unknown key has only the nearest name.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace heed {

// Another tool's word for a field.
struct OtherWord {
  std::string word;
  std::string rule;  // how the value follows from theirs; "": it is the same
};

class OtherWords {
 public:
  virtual ~OtherWords() = default;
  // The words for a field of a type ("gpt") or section ("train"); of the whole config: "".
  virtual std::vector<OtherWord> of_field(const std::string& /*owner*/,
                                          const std::string& /*field*/) const {
    return {};
  }
  // True if `word` is another tool's for this value: "swish" for "silu".
  virtual bool is_value(const std::string& /*word*/, const std::string& /*value*/) const {
    return false;
  }
  // What to say about a key that has no field here, such as "device", or about such a key's path
  // from the config's root, "model.device"; "" if nothing is known.
  virtual std::string about_key(const std::string& /*key*/) const { return ""; }
};

// The table of this build; an empty one if none is registered.
const OtherWords& other_words();

// Filled by the build from the lines HEED_WORDS(Class, "name") of headers.
class WordsRegistry {
 public:
  template <class Words>
  void add(const std::string& /*name*/) {
    words_ = std::make_unique<Words>();
  }
  const OtherWords& words() const { return *words_; }

 private:
  std::unique_ptr<OtherWords> words_ = std::make_unique<OtherWords>();
};
WordsRegistry& words_registry();
void register_words(WordsRegistry& registry);

#define HEED_WORDS(Class, name) \
  static_assert(std::is_base_of_v<heed::OtherWords, Class>, name " must derive from OtherWords")

}  // namespace heed
