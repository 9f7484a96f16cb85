#include "tools/extras/fine_tuning/train/source.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "autograd/base/modes.h"
#include "layers/config/describe.h"
#include "layers/config/values.h"
#include "tools/extras/fine_tuning/train/foreign.h"
#include "tools/extras/fine_tuning/train/freeze.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/state_dict.h"
#include "train/yaml/yaml.h"

namespace heed {

namespace fs = std::filesystem;

fs::path find_weights(const fs::path& source, std::vector<std::string>& warnings) {
  std::error_code error;
  if (!fs::is_directory(source, error)) {
    require<IoError>(is_there(source), source.string(),
                     ": expected a run folder, a checkpoint, a safetensors file or a Hugging Face "
                     "folder: not there");
    return source;
  }
  if (const auto foreign = maker_of(source)) return foreign->weights_file(source);
  return resolve_run(source, warnings).checkpoint / "model.safetensors";
}

Fingerprint source_fingerprint(const fs::path& file) {
  if (const auto foreign = maker_of(file.parent_path())) return foreign->fingerprint(file);
  const SafeTensors header(file);  // what has none is refused before all of it is read
  return fingerprint_file(file);
}

namespace {

// "out_head.*" if all mistakes, lines "x.safetensors: out_head.bias: missing", are of one module.
std::string pattern_of(const std::string& mistakes) {
  constexpr std::string_view after_file = ".safetensors: ";
  std::set<std::string> modules;
  std::istringstream lines(mistakes);
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find(after_file);
    std::string name = at == std::string::npos ? "" : line.substr(at + after_file.size());
    name = name.substr(0, name.find(": "));
    name = name.substr(name.rfind(' ') + 1);  // "transformer.wte.weight, here tok_emb.weight"
    modules.insert(name.substr(0, name.rfind('.') + 1));
  }
  return modules.size() == 1 && *modules.begin() != "" ? "\"" + *modules.begin() + "*\""
                                                       : "PATTERNS";
}

}  // namespace

std::string not_these_weights(const IoError& error) {
  std::string mistakes = error.what();
  const std::string pattern = pattern_of(mistakes);
  for (size_t at = 0; (at = mistakes.find('\n')) != std::string::npos;) {
    mistakes.replace(at, 1, "; ");
  }
  return text("these are not the weights of this model: ", mistakes, "; weights_ignore: [", pattern,
              "] lets tensors differ that are meant to");
}

namespace {

// Training would end at its first step, or never show it: an embedding may have rows that no text
// of the run needs.
void require_finite_weights(const Module& model, const fs::path& file) {
  for (const NamedParameter& parameter : model.parameters()) {
    const std::string mistake = mistake_in_weights(parameter.tensor.value());
    require<IoError>(mistake.empty(), file.string(), ": ", parameter.name, ": ", mistake);
  }
}

// Throws ConfigError for a pattern that nothing matches, here or in the file, and if none is left.
void check_ignored(const Module& model, const std::vector<std::string>& ignored,
                   const std::vector<std::string>& theirs) {
  for (const std::string& pattern : ignored) {
    const auto matches = [&](const std::string& name) { return matches_any({pattern}, name); };
    const std::string mistake = mistake_in_pattern(model, pattern);
    require<ConfigError>(mistake.empty() || std::any_of(theirs.begin(), theirs.end(), matches),
                         "weights_ignore: ", mistake);
  }
  const std::vector<NamedParameter> all = model.parameters();
  const auto is_left = [&](const auto& each) { return !matches_any(ignored, each.name); };
  require<ConfigError>(
      ignored.empty() || std::any_of(all.begin(), all.end(), is_left),
      "weights_ignore: every parameter is ignored, so none would start from these");
}

}  // namespace

void start_from(Module& model, const fs::path& path, const std::vector<std::string>& ignored) {
  std::vector<std::string> theirs;  // names, in a foreign file those that it was asked for
  const auto is_ignored = [&](const std::string& name) {
    theirs.push_back(name);
    return matches_any(ignored, name);
  };
  if (const auto foreign = maker_of(path.parent_path())) {
    foreign->load(model, path, is_ignored);
    check_ignored(model, ignored, theirs);
    return;
  }
  const SafeTensors file(path);
  const std::vector<std::string> names = file.names();
  const auto is_beside = [](const std::string& name) { return name.ends_with(".lora.A"); };
  require<ConfigError>(std::none_of(names.begin(), names.end(), is_beside), path.string(),
                       ": was trained with train.lora, which is not in the weights but beside ",
                       "them; heed export RUN DIR --merge makes one model of the two");
  check_ignored(model, ignored, names);
  try {
    check_parameters(model, file, Extra::refuse, is_ignored);
  } catch (const IoError& error) {
    fail<ConfigError>(not_these_weights(error));
  }
  if (!dry_run()) {
    load_parameters(model, file, Extra::refuse, is_ignored);
    require_finite_weights(model, path);
  }
}

namespace {

using Values = std::map<std::string, std::string>;  // of a config, by path

// What a layer does not say is as in the model around it.
std::string value_at(const Values& values, const std::string& path) {
  const auto own = values.find(path),
             found = own != values.end() ? own : values.find(path.substr(path.rfind('.') + 1));
  return found == values.end() ? "the default" : found->second;
}

// The value at a path; one word for what is the same, and for a default that is spelled out.
std::string in_one_word(const Values& values, const std::string& path) {
  const auto number = [&](const char* field) {
    const std::string at = path.substr(0, path.rfind('.') + 1) + field;
    return static_cast<double>(
        whole_number(ConfigNode::scalar(value_at(values, at), false)).value_or(0));
  };
  const std::string& value = values.at(path);
  const double own = number("head_dim"),
               width = number("d_out") > 0 ? number("d_out") : number("d_model");
  const double of_head = own > 0 ? own : width / number("num_heads");
  const bool is_auto =
      path.ends_with("scale") && value == ConfigNode(1 / std::sqrt(of_head)).text();
  return is_auto                         ? "auto"
         : value == "packed_attention"   ? "multi_head_attention"  // other parameters alone
         : value == "gated_feed_forward" ? "feed_forward"          // with swiglu
                                         : value;
}

// The path of the layer that a path is in, "" for the model itself: "attention" for the group
// attention.rope_scaling.
std::string layer_around(const Values& values, const std::string& path) {
  const size_t dot = path.rfind('.');
  const std::string above = dot == std::string::npos ? "" : path.substr(0, dot);
  return above.empty() || values.contains(above + ".type") ? above : layer_around(values, above);
}

// The values that make a model the function of its weights that it is, by what fields declare.
Values values_of_function(const LayerChoice& model) {
  Values values = flat_values(write_struct(model.config()));
  if (std::any_of(values.begin(), values.end(),
                  [](const auto& each) { return each.second == "gated_feed_forward"; })) {
    values["activation"] = "swiglu";
  }
  for (auto& [path, value] : values) {
    value = in_one_word(values, path);
  }
  if (auto own = values.extract("feed_forward.activation"); !own.empty()) {
    values["activation"] = own.mapped();  // that of the model, where it is not given there
  }
  std::erase_if(values, [&](const auto& value) {
    const std::string layer = layer_around(values, value.first);
    const std::string name = value.first.substr(layer.empty() ? 0 : layer.size() + 1);
    const std::string type = layer.empty() ? model.type() : values.at(layer + ".type");
    const FieldInfo* const field =
        find_field(config_types("layer").get(type).fields(), name.substr(0, name.find('.')));
    return field != nullptr && field->shown;
  });
  return values;
}

}  // namespace

std::vector<Difference> differences(const LayerChoice& ours, const LayerChoice& theirs) {
  const Values a = values_of_function(ours), b = values_of_function(theirs);
  Values all = a;
  all.insert(b.begin(), b.end());
  std::vector<Difference> found;
  const auto listed = [](const LayerChoice& model) {
    const auto* attention = model.find<LayerChoice>("attention");
    const size_t count = attention == nullptr ? 0 : attention->others.size();
    return count == 0 ? "the same in every block" : text("a list of ", count + 1);
  };
  if (listed(ours) != listed(theirs)) found.push_back({"attention", listed(ours), listed(theirs)});
  for (const auto& [path, value] : all) {
    const std::string layer = layer_around(all, path),
                      in_both = layer.empty() ? path : layer + ".type";
    const std::string here = value_at(a, path), there = value_at(b, path);
    // A layer of another type may have no such field, and one without a flag no such group.
    const bool in_group = path.find('.', layer.size() + 1) != std::string::npos;
    const bool both_have = here != "the default" && there != "the default";
    if (a.contains(in_both) && b.contains(in_both) && here != there &&
        (both_have || (!in_group && a.at(in_both) == b.at(in_both)))) {
      found.push_back({path, here, there});
    }
  }
  return found;
}

std::vector<std::string> differences_from(const fs::path& file, const LayerChoice& model) {
  const fs::path config = file.parent_path() / "config.yaml";
  const auto foreign = file.empty() ? nullptr : maker_of(file.parent_path());
  if (!foreign && (file.empty() || !is_there(config))) return {};
  std::vector<std::string> lines;
  try {
    ConfigNode theirs = foreign ? foreign->model(file) : read_config(config.string()).get("model");
    const std::string type = theirs.get("type").text();
    theirs.erase("type");
    if (type.empty()) {
      return {};  // a config of another program
    }
    for (const Difference& each : differences(model, read_options("layer", type, theirs))) {
      lines.push_back(text("model.", each.field, " is ", each.ours,
                           ", but the weights were made with ", each.theirs));
    }
  } catch (const ConfigError& error) {  // a layer of a plugin that this run does not need
    const std::string what = error.what();
    lines.push_back("the model is not compared with that of the weights: " +
                    what.substr(0, what.find('\n')));
  }
  return lines;
}

}  // namespace heed
