// Which architectures of transformers a gpt is, and under which names they store its tensors.
//   gpt2      learned or sinusoidal positions, layer_norm
//   gpt_neox  rotary positions, layer_norm, residual branches side by side or one after the other
//   llama     rotary positions, rms_norm, swiglu
//   qwen3     as llama, with norms of queries and keys
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "autograd/array/array.h"
#include "layers/gpt.h"
#include "layers/multi_head_attention.h"

namespace heed {

struct Architecture {
  std::string model_type;  // of config.json
  std::string class_name;  // of transformers
  std::string prefix;      // of the tensors of the body; may be missing in a file
  std::string head;        // the tensor of the output layer
};

// Null for a model_type that heed does not have.
const Architecture* find_architecture(const std::string& model_type);
// "gpt2, gpt_neox, llama or qwen3"
std::string architecture_names();

// The one that has the positions and the norm of this model.
const Architecture& architecture_of(const Gpt::Config& model);
// Why the architecture cannot hold the model, beginning with the field; "" if it can.
std::string obstacle(const Architecture& architecture, const Gpt& model);
// "model.norm: rms_norm, but gpt2 has layer_norm"
std::string lacks(const Architecture& architecture, const std::string& field,
                  const std::string& ours, const std::string& theirs);

// The attention of the blocks: multi_head_attention, or packed_attention. Requires no obstacle.
const MultiHeadAttention::Config& attention_of(const Gpt& model);
// The hidden width of the feed-forward, and whether it has biases. Requires no obstacle.
struct FeedForwardSize {
  int64_t hidden = 0;
  bool bias = false;
};
FeedForwardSize feed_forward_of(const Gpt& model);

// Rows of a matrix, or numbers of a vector, that both have: our row ours + r is their row theirs +
// r / run * stride + r % run, or theirs + r without runs.
struct SameRows {
  int64_t count = 0;
  int64_t ours = 0;
  int64_t theirs = 0;
  int64_t run = 0;
  int64_t stride = 0;
  int64_t their_row(int64_t r) const { return theirs + (run > 0 ? r / run * stride + r % run : r); }
};

// A part of a tensor of theirs, and the parameter of ours, or a part of it, that is the same. A
// matrix that is `transposed` has the rows as columns: GPT-2's Conv1D stores (in, out).
struct TensorPart {
  std::string ours;  // "": the model has no such parameter, as if it were `fixed`
  SameRows rows;
  int64_t columns = 0;  // 0: a vector
  bool transposed = false;
  Array fixed;  // (rows) or (rows, columns)

  // Calls each(i, j) for every number: i is its place in our parameter, or in `fixed`, j that in
  // their tensor, of so many rows.
  template <class Each>
  void for_each_number(int64_t their_rows, const Each& each) const {
    const int64_t width = std::max<int64_t>(1, columns);
    for (int64_t r = 0; r < rows.count; ++r) {
      const int64_t row = rows.their_row(r);
      for (int64_t c = 0; c < width; ++c) {
        each((rows.ours + r) * width + c, transposed ? c * their_rows + row : row * width + c);
      }
    }
  }
};

// A tensor of theirs, with all its parts.
struct TheirTensor {
  std::string name;
  std::vector<TensorPart> parts;

  int64_t rows() const;
  std::vector<int64_t> shape() const;
};

// The parameters of a model by their names.
std::map<std::string, Tensor> parameters_by_name(const Module& model);

// All tensors of a model in this architecture. Requires no obstacle.
std::vector<TheirTensor> their_tensors(const Architecture& architecture, const Gpt& model);

}  // namespace heed
