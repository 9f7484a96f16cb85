// Messages about unknown keys of a config: the name that is meant, and where it would be valid.
#pragma once

#include <string>
#include <vector>

#include "layers/config/fields.h"

namespace heed {

// What a message says after an unknown word: ", did you mean adamw?"; else all known words if they
// are few, after "; `these` "; else the two nearest and the command that lists them all, which is
// `heed layers`, with the topic if there is one.
std::string suggestion(const std::string& word, const std::vector<std::string>& known,
                       const std::string& these, const std::string& topic);

// The topic of the fields of a group: its own name at the top of a config, else that of the type
// around it.
std::string topic_within(const std::string& topic, const FieldInfo& group);

// The message about a key that is none of the fields: "here it is d_model" for a word of another
// tool, else "unknown key" with a suggestion.
std::string unknown_key(const std::string& key, const std::vector<FieldInfo>& fields,
                        const std::string& topic);

// Extends the message about each unknown key if another place of the config takes it: "...; lr
// belongs to optimizer", "here it is optimizer.lr", or "...; momentum belongs to the optimizer sgd"
// if that type would have to be chosen first. A field given by a word of another tool does not
// count as missing. Takes a whole config; `fields` are its fields with the values that were read.
void explain_misplaced_keys(const std::vector<FieldInfo>& fields, const ConfigNode& config,
                            ConfigErrors& errors);

}  // namespace heed
