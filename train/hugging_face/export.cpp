#include "train/hugging_face/export.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>

#include "train/hugging_face/json.h"
#include "train/hugging_face/model_config.h"
#include "train/hugging_face/tokenizer_files.h"

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

TensorView as_bfloat16(const TensorView& from, const Array& values) {
  auto narrow = std::make_shared<std::vector<uint16_t>>();
  narrow->reserve(static_cast<size_t>(values.size()));
  for (const real value : values.span()) {
    narrow->push_back(to_bfloat16(value));
  }
  return {from.name, Dtype::BF16, from.shape, std::as_bytes(std::span(*narrow)), narrow};
}

// Our numbers, in the places of theirs.
class Assembler {
 public:
  explicit Assembler(const Gpt& model) {
    for (const NamedParameter& parameter : model.parameters()) {
      values_.emplace(parameter.name, parameter.tensor.value());
    }
  }

  // A tensor of `rows` rows, all parts together.
  Array assemble(const std::vector<TensorPair>& parts) const {
    int64_t rows = 0;
    for (const TensorPair& part : parts) {
      rows += part.rows;
    }
    const TensorPair& first = parts.front();
    if (parts.size() == 1 && !first.transposed) {
      return first.ours.empty() ? first.fixed : values_.at(first.ours);
    }
    const int64_t columns = std::max<int64_t>(1, first.columns);
    Array whole = Array::uninitialised(first.columns == 0 ? Shape{rows}
                                       : first.transposed ? Shape{columns, rows}
                                                          : Shape{rows, columns});
    real* to = whole.mutable_data();
    for (const TensorPair& part : parts) {
      const bool fixed = part.ours.empty();
      const real* from =
          fixed ? part.fixed.data() : values_.at(part.ours).data() + part.our_row * columns;
      for (int64_t r = 0; r < part.rows; ++r) {
        const int64_t row = part.their_row_of(r);
        for (int64_t c = 0; c < columns; ++c) {
          to[part.transposed ? c * rows + row : row * columns + c] = from[r * columns + c];
        }
      }
    }
    return whole;
  }

 private:
  std::map<std::string, Array> values_;
};

std::vector<TensorView> tensors_of(const Architecture& architecture, const ExportJob& job) {
  const Assembler assembler(job.model);
  const std::vector<TensorPair> pairs = tensor_pairs(architecture, job.model);
  std::vector<TensorView> views;
  for (auto from = pairs.begin(); from != pairs.end();) {
    auto to = from;
    while (to != pairs.end() && to->theirs == from->theirs) {
      ++to;
    }
    const Array values = assembler.assemble({from, to});
    TensorView whole = view(from->theirs, values);
    views.push_back(job.dtype == Dtype::BF16 ? as_bfloat16(whole, values) : std::move(whole));
    from = to;
  }
  return views;
}

void write(const std::filesystem::path& path, const ConfigNode& json) {
  write_file_atomically(path, json_text(json));
}

}  // namespace

bool write_hugging_face(const std::filesystem::path& folder, const ExportJob& job) {
  const Architecture& architecture = architecture_of(job.model.config);
  TokenizerFiles tokenizer;
  if (job.tokenizer != nullptr) {
    tokenizer = tokenizer_files(*job.tokenizer, job.model.config.context_length);
  }
  const ConfigNode end = tokenizer.end_of_text ? ConfigNode(*tokenizer.end_of_text)
                                               : ConfigNode::scalar("null", /*quoted=*/false);
  ConfigNode config = json_of_model(architecture, job.model, job.own);
  config.set("bos_token_id", end);
  config.set("eos_token_id", end);
  config.set("dtype", job.dtype == Dtype::BF16 ? "bfloat16" : "float32");
  write(folder / "config.json", config);
  write(folder / "generation_config.json",
        ConfigNode::map({{"bos_token_id", end}, {"eos_token_id", end}}));
  for (const auto& [name, contents] : tokenizer.texts) {
    write_file_atomically(folder / name, contents);
  }
  write_safetensors(folder / "model.safetensors", tensors_of(architecture, job), {{"format", "pt"}},
                    job.dtype == Dtype::F32 ? std::optional(Dtype::F32) : std::nullopt);
  return !tokenizer.texts.empty();
}

}  // namespace heed
