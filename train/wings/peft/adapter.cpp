#include "train/wings/peft/adapter.h"

#include <cmath>
#include <map>
#include <set>

#include "autograd/ops/matmul.h"
#include "layers/text/display.h"
#include "train/files/tensor_mistakes.h"
#include "train/wings/fine_tuning/foreign.h"
#include "train/wings/hugging_face/export.h"
#include "train/wings/hugging_face/json.h"
#include "train/wings/hugging_face/keys.h"

namespace heed {

namespace fs = std::filesystem;

namespace {

constexpr const char* config_name = "adapter_config.json";
constexpr const char* tensors_name = "adapter_model.safetensors";
const std::string peft_prefix = "base_model.model.", after_a = ".lora_A.weight",
                  after_b = ".lora_B.weight", our_a = ".lora.A", our_b = ".lora.B";

std::string layer_of(const std::string& weight) { return weight.substr(0, weight.rfind('.')); }

// What train.lora has learned of a layer of theirs.
struct Learned {
  Array a, b;         // (ranks, in), (out, ranks)
  int64_t parts = 0;  // layers of ours that it is; 0: none is adapted
};

Learned learned_of(const TheirTensor& tensor, const SafeTensors& file) {
  std::vector<std::pair<const TensorPart*, std::string>> adapted;  // with our layer
  for (const TensorPart& part : tensor.parts) {
    const std::string layer = layer_of(part.ours);
    if (part.columns > 0 && file.find(layer + our_a) != nullptr) {
      adapted.emplace_back(&part, layer);
    }
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
    const std::string layer = layer_of(tensor.name);
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

// What adapter_config.json says of the numbers; refuses what is no plain LoRA.
class AdapterConfig {
 public:
  explicit AdapterConfig(const fs::path& path)
      : json_(read_json(path)), keys_(json_, path.string()) {
    if (const std::string type = keys_.words("peft_type", ""); type != "LORA") {
      keys_.cannot("peft_type", "LORA alone");
    }
    if (keys_.words("bias", "none") != "none") keys_.cannot("bias", "none");
    keys_.require_flag("use_dora", false, false);
    keys_.require_flag("lora_bias", false, false);
    keys_.require_flag("use_qalora", false, false);
    keys_.require_none("modules_to_save");
    alpha_ = keys_.number("lora_alpha", 8);
    is_root_ = keys_.flag("use_rslora", false);
    for (const ConfigNode& each : keys_.get("alpha_pattern").children()) {
      patterns_[each.key()] = keys_.number_of(each, "alpha_pattern", alpha_);
    }
  }

  // alpha / r of a layer, or alpha / sqrt(r).
  real scale(const std::string& layer, int64_t rank) {
    double alpha = alpha_;
    for (const auto& [key, value] : patterns_) {
      if (layer == key || layer.ends_with("." + key)) {
        alpha = value;
        used_.insert(key);
      }
    }
    const auto r = static_cast<double>(rank);
    return static_cast<real>(alpha / (is_root_ ? std::sqrt(r) : r));
  }

  // An alpha for no layer, or for those that a regular expression matches.
  void require_all_used() const {
    for (const auto& [key, value] : patterns_) {
      if (!used_.contains(key)) {
        keys_.refuse("alpha_pattern", "names of layers that are adapted, got " + printable(key));
      }
    }
  }

 private:
  ConfigNode json_;
  Keys keys_;
  double alpha_ = 0;
  bool is_root_ = false;
  std::map<std::string, double> patterns_;
  std::set<std::string> used_;
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
    const std::string layer = layer_of(tensor.name);
    const std::string name_a = peft_prefix + layer + after_a,
                      name_b = peft_prefix + layer + after_b;
    const TensorInfo *a = file.find(name_a), *b = file.find(name_b);
    const int64_t columns = tensor.parts.front().columns;
    if (columns == 0 || a == nullptr || b == nullptr) continue;
    known.insert({name_a, name_b});
    const std::vector<int64_t> shape_a{a->shape.empty() ? 0 : a->shape[0], columns},
        shape_b{tensor.rows(), shape_a[0]};
    if (shape_a[0] < 1 || a->shape != shape_a || b->shape != shape_b) {
      mistakes.add([&] {
        return text(layer, ": expected A (r, ", columns, ") and B (", tensor.rows(), ", r), got ",
                    shape_text(a->shape), " and ", shape_text(b->shape));
      });
      continue;
    }
    sums.emplace_back(tensor, product_for(tensor, file.array(name_a), file.array(name_b),
                                          config.scale(layer, shape_a[0])));
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
  config.require_all_used();
  return sums;
}

}  // namespace

void merge_adapter_folder(const fs::path& folder, const Architecture& architecture, Gpt& model) {
  AdapterConfig config(folder / config_name);
  const SafeTensors file(folder / tensors_name);
  const Sums sums = sums_in(file, config, architecture, model);
  std::map<std::string, Tensor> parameters;
  for (const NamedParameter& each : model.parameters()) {
    parameters.emplace(each.name, each.tensor);
  }
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
