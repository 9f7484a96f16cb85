// Messages about unknown keys and types of a config: the name that is meant.
#pragma once

#include <string>
#include <vector>

#include "layers/config/other_words.h"
#include "layers/config/types.h"

namespace heed {

// The known name that is meant: the closest (nearest()), the one for which another tool has this
// word, the one that begins with it (causal_attention for causal), or the last one inside it
// (cosine for CosineAnnealingLR, dropout for attn_dropout); "" if there is none.
std::string nearest_name(const std::string& word, const std::vector<std::string>& known);

// What a message says after an unknown word: ", did you mean adamw?"; else all known words if they
// are few, after "; `these` "; else the command that lists them, which is `heed layers`, with the
// topic if there is one.
std::string suggestion(const std::string& word, const std::vector<std::string>& known,
                       const std::string& these, const std::string& topic);

// The same after an unknown type. The word may be another tool's for a value of a type's field:
// "; here it is {type: bpe, path: gpt2/tokenizer.json}" after gpt2.
std::string suggested_type(const std::string& word, const ConfigTypes& types);

// Begins a message about a word of another tool: "here it is d_model".
inline const std::string hint_begin = "here it is ";
// What follows for the field at `path`: that path and, if there is one, the rule.
std::string here_it_is(const std::string& path, const OtherWord& other);

// The message about a key that is none of the fields: "here it is d_model" for a word of another
// tool, else "unknown key" with a suggestion.
std::string unknown_key(const std::string& key, const std::vector<FieldInfo>& fields,
                        const std::string& topic);

}  // namespace heed
