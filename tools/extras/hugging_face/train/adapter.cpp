#include "tools/extras/hugging_face/train/adapter.h"

#include <regex.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "autograd/ops/matmul.h"
#include "layers/text/display.h"
#include "tools/extras/fine_tuning/train/foreign.h"
#include "tools/extras/hugging_face/train/export.h"
#include "tools/extras/hugging_face/train/json.h"
#include "tools/extras/hugging_face/train/keys.h"
#include "train/files/tensor_mistakes.h"

namespace heed {

namespace fs = std::filesystem;

namespace {

constexpr const char* config_name = "adapter_config.json";
constexpr const char* tensors_name = "adapter_model.safetensors";
constexpr const char* pickled_name = "adapter_model.bin";
const std::string peft_prefix = "base_model.model.", after_a = ".lora_A.weight",
                  after_b = ".lora_B.weight", our_a = ".lora.A", our_b = ".lora.B";

std::string layer_of(const std::string& weight) { return weight.substr(0, weight.rfind('.')); }

// The name that a layer of theirs has in adapters. In transformers, the output layer of a GPT-NeoX
// is lm_head since 5.14; in files of weights it still is embed_out.
std::string adapted_name(const Architecture& architecture, const TheirTensor& tensor) {
  return tensor.name == architecture.head ? "lm_head" : layer_of(tensor.name);
}

// What train.lora has learned of a layer of theirs.
struct Learned {
  Array a, b;         // (ranks, in), (out, ranks)
  int64_t parts = 0;  // layers of ours that it is; 0: none is adapted
};

Learned learned_of(const TheirTensor& tensor, const SafeTensors& file) {
  std::vector<std::pair<const TensorPart*, std::string>> adapted;  // with our layer
  for (const TensorPart& part : tensor.parts) {
    const std::string layer = layer_of(part.ours);
    if (part.columns > 0 && file.find(layer + our_a) != nullptr) adapted.emplace_back(&part, layer);
  }
  const int64_t parts = std::ssize(adapted);
  if (parts == 0) return {};
  const int64_t rank = file.at(adapted[0].second + our_a).shape[0], ranks = parts * rank;
  const int64_t width = tensor.parts.front().columns;
  Learned all{Array::uninitialised({ranks, width}), Array::zeros({tensor.rows(), ranks}), parts};
  for (int64_t k = 0; k < parts; ++k) {
    const auto& [part, layer] = adapted[static_cast<size_t>(k)];
    const Array a = file.array(layer + our_a), b = file.array(layer + our_b);
    std::copy_n(a.data(), a.size(), all.a.mutable_data() + k * rank * width);
    for (int64_t r = 0; r < b.dim(0); ++r) {
      std::copy_n(b.data() + r * rank, rank,
                  all.b.mutable_data() + part->rows.their_row(r) * ranks + k * rank);
    }
  }
  return all;
}

}  // namespace

int64_t write_adapter(const fs::path& folder, const AdapterExport& job) {
  Keys lora(job.lora, "train.lora");
  const int64_t rank = lora.size("rank", 1);
  const double alpha = lora.number("alpha", 1);
  const Architecture& architecture = architecture_of(job.model.config);
  ConfigNode targets, ranks = ConfigNode::map(), alphas = ConfigNode::map();
  std::vector<TensorView> views;
  int64_t count = 0;
  for (const TheirTensor& tensor : their_tensors(architecture, job.model)) {
    const Learned learned = learned_of(tensor, job.learned);
    if (learned.parts == 0) continue;
    const std::string layer = adapted_name(architecture, tensor);
    targets.append(layer);
    if (learned.parts > 1) {
      ranks.set(layer, learned.parts * rank);
      alphas.set(layer, static_cast<double>(learned.parts) * alpha);
    }
    views.push_back(narrowed(peft_prefix + layer + after_a, learned.a, Dtype::F32));
    views.push_back(narrowed(peft_prefix + layer + after_b, learned.b, Dtype::F32));
    count += learned.a.size() + learned.b.size();
  }
  const ConfigNode none = ConfigNode::scalar("null", /*quoted=*/false);
  const ConfigNode json =
      ConfigNode::map({{"peft_type", "LORA"},
                       {"task_type", "CAUSAL_LM"},
                       {"base_model_name_or_path", job.base.empty() ? none : job.base},
                       {"r", rank},
                       {"lora_alpha", alpha},
                       {"lora_dropout", job.lora.get("dropout")},
                       {"target_modules", targets},
                       {"rank_pattern", ranks},
                       {"alpha_pattern", alphas},
                       {"fan_in_fan_out", architecture.model_type == "gpt2"},
                       {"bias", "none"},
                       {"inference_mode", true}});
  write_file_atomically(folder / config_name, json_text(json));
  write_safetensors(folder / tensors_name, std::move(views), {{"format", "pt"}});
  return count;
}

bool is_adapter(const fs::path& folder) { return is_there(folder / config_name); }

std::string base_of_adapter(const fs::path& folder) {
  const ConfigNode json = read_json(folder / config_name);
  return Keys(json, (folder / config_name).string()).words("base_model_name_or_path", "");
}

namespace {

// Whether peft means the layer by a name in a list: all of its name, or the end of it.
bool fits(const std::string& layer, const std::string& name) {
  return layer == name || layer.ends_with("." + name);
}

// The part of Python's regular expressions that POSIX has too, as POSIX writes it; absent for any
// other.
std::optional<std::string> as_posix(const std::string& pattern) {
  constexpr size_t longest = 1000;
  if (pattern.size() > longest || pattern.find("(?") != pattern.npos ||
      pattern.find('{') != pattern.npos) {
    return {};
  }
  std::string posix;
  bool in_brackets = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i], next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (c == '\\') {
      const bool digit = next == 'd', sign = std::ispunct(static_cast<unsigned char>(next)) != 0;
      if (in_brackets || !(digit || sign)) return {};
      posix += digit ? "[0-9]" : std::string{c, next};
      ++i;
    } else {
      in_brackets = c == '[' || (in_brackets && c != ']');
      posix += c;
    }
  }
  return posix;
}

// Whether Python's re.fullmatch() finds a text; absent for a pattern that heed does not know.
std::optional<bool> full_match(const std::string& pattern, const std::string& text) {
  const std::optional<std::string> posix = as_posix(pattern);
  regex_t compiled;
  if (!posix || regcomp(&compiled, ("^(" + *posix + ")$").c_str(), REG_EXTENDED | REG_NOSUB) != 0) {
    return {};
  }
  const bool found = regexec(&compiled, text.c_str(), 0, nullptr, 0) == 0;
  regfree(&compiled);
  return found;
}

// The line of Python that makes a whole model of what is refused here.
std::string merged_by_peft(const fs::path& folder) {
  return text("; in Python, peft makes a model of it that heed import takes: PeftModel",
              ".from_pretrained(AutoModelForCausalLM.from_pretrained(BASE), ", "\"",
              printable(folder.string(), 4096), "\"", ").merge_and_unload().save_pretrained(DIR)");
}

// What adapter_config.json says of the numbers; refuses what is no plain LoRA, whether its key is
// known or not. README.md has a table of all keys.
class AdapterConfig {
 public:
  explicit AdapterConfig(const fs::path& path)
      : json_(read_json(path)), keys_(json_, path.string()) {
    keys_.require_none("alora_invocation_tokens");  // peft cannot merge it either
    try {
      require_plain();
    } catch (const ConfigError& error) {
      fail<ConfigError>(error.what(), merged_by_peft(path.parent_path()));
    }
    alpha_ = keys_.number("lora_alpha", 8);
    is_root_ = keys_.flag("use_rslora", false);
    rank_ = keys_.number("r", 8);
  }

  // alpha / r of a layer, or alpha / sqrt(r).
  real scale(const std::string& layer) {
    const double r = rank(layer);
    return static_cast<real>(of_layer("alpha_pattern", layer, alpha_) /
                             (is_root_ ? std::sqrt(r) : r));
  }
  double rank(const std::string& layer) { return of_layer("rank_pattern", layer, rank_); }

  // Whether peft adapts the layer; absent if the config leaves that to peft, or heed cannot tell.
  std::optional<bool> names(const std::string& layer) {
    const auto among = [&](const std::string& key) -> std::optional<bool> {
      if (const std::string& pattern = keys_.get(key).text(); !pattern.empty()) {
        return full_match(pattern, layer);
      }
      const std::vector<ConfigNode>& all = keys_.get(key).children();
      return std::any_of(all.begin(), all.end(),
                         [&](const ConfigNode& each) { return fits(layer, each.text()); });
    };
    const ConfigNode& targets = keys_.get("target_modules");
    const bool all = targets.text() == "all-linear";
    const std::optional<bool> included = among("target_modules"),
                              excluded = among("exclude_modules");
    if ((targets.children().empty() && targets.text().empty()) || (!included && !all) ||
        !excluded || !keys_.get("layers_pattern").text().empty() ||
        keys_.get("layers_pattern").size() > 0) {
      return {};
    }
    const size_t number = layer.find_first_of("0123456789");
    const bool in_block = number != std::string::npos;
    const ConfigNode& chosen = keys_.get("layers_to_transform");
    const std::string block =
        in_block ? layer.substr(number, layer.find('.', number) - number) : "none";
    const auto is_block = [&](const ConfigNode& each) { return each.text() == block; };
    return (all ? in_block : *included) && !*excluded &&
           (chosen.is_absent() || is_block(chosen) ||
            std::any_of(chosen.children().begin(), chosen.children().end(), is_block));
  }

  // A pattern for no layer, or for those that a regular expression matches.
  void require_all_used() {
    for (const char* patterns : {"alpha_pattern", "rank_pattern"}) {
      for (const ConfigNode& each : keys_.get(patterns).children()) {
        if (!used_.contains(patterns + each.key())) {
          keys_.refuse(patterns,
                       "names of adapted layers, of which none is " + printable(each.key()));
        }
      }
    }
  }

 private:
  // The number for a layer: of several patterns the first of the file counts.
  double of_layer(const std::string& patterns, const std::string& layer, double usual) {
    std::optional<double> found;
    for (const ConfigNode& each : keys_.get(patterns).children()) {
      if (fits(layer, each.key())) {
        found = found.value_or(keys_.number_of(each, patterns, usual));
        used_.insert(patterns + each.key());
      }
    }
    return found.value_or(usual);
  }

  void require_plain() {
    if (keys_.words("peft_type", "") != "LORA") keys_.cannot("peft_type", "LORA alone");
    if (keys_.words("bias", "none") != "none") keys_.cannot("bias", "none");
    const std::string starts = " true false gaussian orthogonal eva ";  // leave the base as it is
    if (starts.find(" " + keys_.words("init_lora_weights", "true") + " ") == std::string::npos) {
      keys_.cannot("init_lora_weights", "true, false, gaussian, orthogonal or eva");
    }
    keys_.ignore(
        "lora_alpha use_rslora alpha_pattern target_modules exclude_modules layers_to_transform r "
        "rank_pattern lora_dropout fan_in_fan_out eva_config layers_pattern peft_version "
        "inference_mode base_model_name_or_path revision task_type auto_mapping megatron_core "
        "qalora_group_size ensure_weight_tying runtime_config");
    const std::vector<std::string> others = keys_.unknown();
    if (!others.empty()) keys_.cannot(others.front(), "none");
  }

  ConfigNode json_;
  Keys keys_;
  double alpha_ = 0, rank_ = 0;
  bool is_root_ = false;
  std::set<std::string> used_;  // patterns, after the key that has them
};

// B A of a layer, (rows, columns), times `scale`; in the places of a tensor of theirs.
Array product_for(const TheirTensor& tensor, const Array& a, const Array& b, real scale) {
  const NoGrad off;
  const bool transposed = tensor.parts.front().transposed;
  const Tensor product = transposed ? matmul(a, b, Trans::yes, Trans::yes) : matmul(b, a);
  return (product * Tensor(scale)).value();
}

// What is to be added to tensors of theirs.
using Sums = std::vector<std::pair<TheirTensor, Array>>;

Sums sums_in(const SafeTensors& file, AdapterConfig& config, const Architecture& architecture,
             const Gpt& model) {
  TensorMistakes mistakes(file.path());
  std::set<std::string> known;
  Sums sums;
  for (const TheirTensor& tensor : their_tensors(architecture, model)) {
    const std::string now = adapted_name(architecture, tensor), before = layer_of(tensor.name),
                      layer = file.find(peft_prefix + now + after_a) != nullptr ? now : before;
    const std::string name_a = peft_prefix + layer + after_a,
                      name_b = peft_prefix + layer + after_b;
    const TensorInfo *a = file.find(name_a), *b = file.find(name_b);
    const int64_t columns = tensor.parts.front().columns;
    if (columns == 0) continue;
    if (a == nullptr || b == nullptr) {
      if (config.names(now).value_or(false) || config.names(before).value_or(false)) {
        mistakes.add(
            [&] { return layer + ": no lora_A and lora_B, though target_modules names it"; });
      }
      continue;
    }
    known.insert({name_a, name_b});
    if (!config.names(now).value_or(true) && !config.names(before).value_or(true)) {
      mistakes.add([&] {
        return layer +
               ": has lora_A and lora_B, though target_modules, exclude_modules and "
               "layers_to_transform leave it out";
      });
      continue;
    }
    const std::vector<int64_t> shape_a{a->shape.empty() ? 0 : a->shape[0], columns},
        shape_b{tensor.rows(), shape_a[0]};
    const double rank = config.rank(layer);
    if (static_cast<double>(shape_a[0]) != rank || a->shape != shape_a || b->shape != shape_b) {
      mistakes.add([&] {
        return text(layer, ": expected A (r, ", columns, ") and B (", tensor.rows(),
                    ", r), r = ", rank, ", got ", shape_text(a->shape), " and ",
                    shape_text(b->shape));
      });
      continue;
    }
    sums.emplace_back(
        tensor, product_for(tensor, file.array(name_a), file.array(name_b), config.scale(layer)));
    if (const std::string mistake = mistake_in_weights(sums.back().second); !mistake.empty()) {
      mistakes.add([&] { return layer + ": " + mistake; });
    }
  }
  for (const std::string& name : file.names()) {
    if (!known.contains(name)) {
      mistakes.add([&] {
        return text(printable(name), ": belongs to no layer of this ", architecture.model_type);
      });
    }
  }
  mistakes.throw_if_any();
  require<IoError>(!sums.empty(), file.path(), ": expected lora_A and lora_B of layers, got none");
  config.require_all_used();
  return sums;
}

}  // namespace

void merge_adapter_folder(const fs::path& folder, const Architecture& architecture, Gpt& model) {
  AdapterConfig config(folder / config_name);
  require<IoError>(is_there(folder / tensors_name) || !is_there(folder / pickled_name),
                   folder.string(), ": expected ", tensors_name, ", got ", pickled_name,
                   ", which can run code and is not read", merged_by_peft(folder));
  const SafeTensors file(folder / tensors_name);
  const Sums sums = sums_in(file, config, architecture, model);
  std::map<std::string, Tensor> parameters = parameters_by_name(model);
  const NoGrad off;
  for (const auto& [tensor, sum] : sums) {
    const real* from = sum.data();
    for (const TensorPart& part : tensor.parts) {
      real* to = parameters.at(part.ours).mutable_value();
      part.for_each_number(tensor.rows(), [=](int64_t i, int64_t j) { to[i] += from[j]; });
    }
  }
}

}  // namespace heed
