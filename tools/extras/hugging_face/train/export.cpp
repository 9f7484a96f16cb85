#include "tools/extras/hugging_face/train/export.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>

#include "tools/extras/hugging_face/train/json.h"
#include "tools/extras/hugging_face/train/model_config.h"
#include "tools/extras/hugging_face/train/tokenizer_files.h"

namespace heed {

namespace {

// The upper half of a binary32, rounded to the nearest, a tie to the even one.
uint16_t to_bfloat16(real value) {
  const auto narrow = static_cast<float>(value);
  const auto bits = std::bit_cast<uint32_t>(narrow);
  if (std::isnan(narrow)) {
    return static_cast<uint16_t>(bits >> 16 | 0x40);  // stays one
  }
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

template <class T, class Convert>
TensorView converted(std::string name, const Array& values, Dtype dtype, const Convert& convert) {
  const auto narrow = std::make_shared<std::vector<T>>(static_cast<size_t>(values.size()));
  std::transform(values.span().begin(), values.span().end(), narrow->begin(), convert);
  const auto dims = values.shape().dims();
  return {std::move(name),
          dtype,
          {dims.begin(), dims.end()},
          std::as_bytes(std::span(*narrow)),
          narrow};
}

// A tensor of theirs, out of the parameters of ours.
Array assembled(const TheirTensor& tensor, const std::map<std::string, Tensor>& parameters) {
  const auto numbers_of = [&](const TensorPart& part) {
    return part.ours.empty() ? part.fixed : parameters.at(part.ours).value();
  };
  const Shape shape(tensor.shape());
  const TensorPart& first = tensor.parts.front();
  if (tensor.parts.size() == 1 && !first.transposed && numbers_of(first).shape() == shape) {
    return numbers_of(first);
  }
  Array whole = Array::uninitialised(shape);
  real* to = whole.mutable_data();
  for (const TensorPart& part : tensor.parts) {
    const Array numbers = numbers_of(part);
    const real* from = numbers.data();
    part.for_each_number(tensor.rows(), [=](int64_t i, int64_t j) { to[j] = from[i]; });
  }
  return whole;
}

std::vector<TensorView> tensors_of(const Architecture& architecture, const ExportJob& job) {
  const auto parameters = parameters_by_name(job.model);
  std::vector<TensorView> views;
  for (const TheirTensor& tensor : their_tensors(architecture, job.model)) {
    views.push_back(narrowed(tensor.name, assembled(tensor, parameters), job.dtype));
  }
  return views;
}

}  // namespace

TensorView narrowed(std::string name, const Array& values, Dtype dtype) {
  if (dtype == Dtype::BF16) return converted<uint16_t>(std::move(name), values, dtype, to_bfloat16);
  const auto to_float = [](real value) { return static_cast<float>(value); };
  return is_float64 ? converted<float>(std::move(name), values, dtype, to_float)
                    : view(std::move(name), values);
}

bool write_hugging_face(const std::filesystem::path& folder, const ExportJob& job) {
  const Architecture& architecture = architecture_of(job.model.config);
  TokenizerFiles tokenizer;
  const std::vector<int64_t>& ids = job.ends;
  if (job.tokenizer != nullptr) {
    tokenizer = tokenizer_files(*job.tokenizer, job.model.config.context_length, job.begin,
                                ids.empty() ? std::nullopt : std::optional<int32_t>(ids[0]));
  }
  const auto id_of = [](std::optional<int32_t> id) {
    return id ? ConfigNode(*id) : ConfigNode::scalar("null", /*quoted=*/false);
  };
  const ConfigNode begin = id_of(job.begin ? job.begin : tokenizer.end_of_text);
  const ConfigNode ends = ids.size() > 1 ? ConfigNode::list({ids.begin(), ids.end()})
                          : ids.empty()  ? id_of(tokenizer.end_of_text)
                                         : ConfigNode(ids[0]);
  ConfigNode config = json_of_model(architecture, job.model, job.own);
  config.set("bos_token_id", begin);
  config.set("eos_token_id", ends);
  config.set("dtype", job.dtype == Dtype::BF16 ? "bfloat16" : "float32");
  write_file_atomically(folder / "config.json", json_text(config));
  write_file_atomically(
      folder / "generation_config.json",
      json_text(ConfigNode::map({{"bos_token_id", begin}, {"eos_token_id", ends}})));
  if (!job.chat_template.empty()) {
    write_file_atomically(folder / stored_chat_template, job.chat_template);
  }
  for (const auto& [name, contents] : tokenizer.texts) {
    write_file_atomically(folder / name, contents);
  }
  write_safetensors(folder / "model.safetensors", tensors_of(architecture, job),
                    {{"format", "pt"}});
  return !tokenizer.texts.empty();
}

}  // namespace heed
