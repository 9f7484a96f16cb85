#include "tools/extras/hugging_face/train/architecture.h"

#include <algorithm>
#include <numeric>

#include "autograd/base/modes.h"
#include "layers/gated_feed_forward.h"
#include "layers/packed_attention.h"

namespace heed {

namespace {

const std::vector<Architecture> architectures{
    {"gpt2", "GPT2LMHeadModel", "transformer.", "lm_head.weight"},
    {"gpt_neox", "GPTNeoXForCausalLM", "gpt_neox.", "embed_out.weight"},
    {"llama", "LlamaForCausalLM", "model.", "lm_head.weight"},
    {"qwen3", "Qwen3ForCausalLM", "model.", "lm_head.weight"}};

// Queries, keys and values in a matrix each, rms_norm and swiglu.
bool is_llama(const std::string& type) { return type == "llama" || type == "qwen3"; }

const MultiHeadAttention::Config* find_attention(const Gpt& model) {
  const Module& att = *model.trf_blocks.front()->att;
  if (const auto* split = dynamic_cast<const MultiHeadAttention*>(&att)) return &split->config;
  const auto* packed = dynamic_cast<const PackedAttention*>(&att);
  return packed == nullptr ? nullptr : &packed->config;
}

}  // namespace

const Architecture* find_architecture(const std::string& model_type) {
  const auto found = std::find_if(architectures.begin(), architectures.end(),
                                  [&](const auto& a) { return a.model_type == model_type; });
  return found == architectures.end() ? nullptr : &*found;
}

std::string architecture_names() { return "gpt2, gpt_neox, llama or qwen3"; }

const Architecture& architecture_of(const Gpt::Config& model) {
  const auto* const qk_norm = model.attention.find<std::string>("qk_norm");
  const char* const type = model.position != "rope"                   ? "gpt2"
                           : model.norm == "layer_norm"               ? "gpt_neox"
                           : qk_norm != nullptr && *qk_norm != "none" ? "qwen3"
                                                                      : "llama";
  return *find_architecture(type);
}

std::string lacks(const Architecture& architecture, const std::string& field,
                  const std::string& ours, const std::string& theirs) {
  return text("model.", field, ": ", ours, ", but ", architecture.model_type, " has ", theirs);
}

std::string obstacle(const Architecture& architecture, const Gpt& model) {
  const Gpt::Config& c = model.config;
  const std::string& type = architecture.model_type;
  if (find_attention(model) == nullptr) {
    return "model.attention: expected multi_head_attention, got " + c.attention.type();
  }
  const auto differs = [&](const char* field, const std::string& got, const std::string& has) {
    return lacks(architecture, field, got, has);
  };
  const MultiHeadAttention::Config& att = attention_of(model);
  const bool llama = is_llama(type), is_gpt2 = type == "gpt2", is_qwen3 = type == "qwen3";
  const bool gated = c.feed_forward.type() == "gated_feed_forward",
             plain = c.feed_forward.type() == "feed_forward";
  const bool own_activation =
      plain && *c.feed_forward.find<std::string>("activation") != c.activation;
  const bool has_gate = gated || c.activation == "swiglu";
  const std::string norm = llama ? "rms_norm" : "layer_norm",
                    qk_norm = is_qwen3 ? "rms_norm" : "none";
  const std::vector<std::pair<bool, std::string>> obstacles{
      {!att.causal, "model.attention.causal: expected true, got false"},
      {!att.out_proj, "model.attention.out_proj: expected true, got false"},
      {att.d_in != c.d_model || att.d_out != c.d_model,
       text("model.attention: expected d_in and d_out of d_model, ", c.d_model, ", got ", att.d_in,
            " and ", att.d_out)},
      {att.variant.rope && c.position != "rope",
       "model.attention.rope: expected false with position " + c.position + ", got true"},
      {!c.attention.others.empty(),
       differs("attention", text("a list of ", 1 + c.attention.others.size()),
               "the same in every block")},
      {!c.has_feed_forward(), differs("feed_forward", "none", "one in each block")},
      {!gated && !plain,
       differs("feed_forward", c.feed_forward.type(), "two or three Linear layers")},
      {own_activation, "model.feed_forward.activation: write it as model.activation"},
      {llama && !has_gate, differs("activation", c.activation, "swiglu")},
      {!llama && gated, differs("feed_forward", "gated_feed_forward", "no gate")},
      {!llama && has_gate, differs("activation", "swiglu", "no gate")},
      {c.norm != norm, differs("norm", c.norm, norm)},
      {is_gpt2 && (c.position == "rope" || c.position == "none"),
       differs("position", c.position, "learned")},
      {!is_gpt2 && c.position != "rope", differs("position", c.position, "rope")},
      {!llama && att.kv_heads() != att.num_heads,
       differs("num_kv_heads", std::to_string(att.kv_heads()), "as many as num_heads")},
      {!llama && att.all_heads() != att.d_out,
       differs("head_dim", std::to_string(att.head_width()), "d_model / num_heads")},
      {att.variant.qk_norm != qk_norm, differs("attention.qk_norm", att.variant.qk_norm, qk_norm)},
      {is_qwen3 && (gated || plain) && feed_forward_of(model).bias,
       differs("bias", "true", "none in the feed-forward")}};
  const auto first =
      std::find_if(obstacles.begin(), obstacles.end(), [](const auto& each) { return each.first; });
  return first == obstacles.end() ? "" : first->second;
}

const MultiHeadAttention::Config& attention_of(const Gpt& model) { return *find_attention(model); }

FeedForwardSize feed_forward_of(const Gpt& model) {
  const Module& ff = **model.trf_blocks.front()->ff;
  if (const auto* gated = dynamic_cast<const GatedFeedForward*>(&ff)) {
    return {gated->config.ff_width, gated->config.bias};
  }
  const auto& plain = dynamic_cast<const FeedForward&>(ff);
  return {plain.config.hidden_width(), plain.config.bias};
}

std::map<std::string, Tensor> parameters_by_name(const Module& model) {
  std::map<std::string, Tensor> parameters;
  for (const NamedParameter& each : model.parameters()) parameters.emplace(each.name, each.tensor);
  return parameters;
}

int64_t TheirTensor::rows() const {
  return std::accumulate(parts.begin(), parts.end(), int64_t{0},
                         [](int64_t sum, const TensorPart& part) { return sum + part.rows.count; });
}

std::vector<int64_t> TheirTensor::shape() const {
  const int64_t columns = parts.front().columns;
  return columns == 0               ? std::vector<int64_t>{rows()}
         : parts.front().transposed ? std::vector<int64_t>{columns, rows()}
                                    : std::vector<int64_t>{rows(), columns};
}

namespace {

class TensorList {
 public:
  explicit TensorList(bool transposes) : transposes_(transposes) {}

  // ours: "" for a parameter that the model does not have; the caller then sets `fixed`.
  TensorPart& add(const std::string& theirs, const std::string& ours, const SameRows& rows,
                  int64_t columns = 0) {
    if (tensors.empty() || tensors.back().name != theirs) tensors.push_back({theirs, {}});
    return tensors.back().parts.emplace_back(
        TensorPart{.ours = ours, .rows = rows, .columns = columns});
  }
  // A vector; zeros if the model has none.
  void vector(const std::string& theirs, const std::string& ours, const SameRows& rows,
              bool has_it) {
    TensorPart& part = add(theirs, has_it ? ours : "", rows);
    if (!has_it) {
      part.rows.ours = 0;
      part.fixed = Array::zeros({rows.count});
    }
  }
  void weight(const std::string& theirs, const std::string& ours, const SameRows& rows,
              int64_t columns) {
    add(theirs, ours, rows, columns).transposed = transposes_;
  }
  void linear(const std::string& theirs, const std::string& ours, int64_t rows, int64_t columns,
              bool their_bias, bool our_bias) {
    weight(theirs + ".weight", ours + ".weight", {rows}, columns);
    if (their_bias) vector(theirs + ".bias", ours + ".bias", {rows}, our_bias);
  }
  void norm(const std::string& theirs, const std::string& ours, const Gpt::Config& c) {
    add(theirs + ".weight", ours + ".scale", {c.d_model});
    if (c.norm == "layer_norm") vector(theirs + ".bias", ours + ".shift", {c.d_model}, c.bias);
  }

  std::vector<TheirTensor> tensors;

 private:
  const bool transposes_;
};

// The names of a block, behind prefix and number.
struct BlockNames {
  const char* block;
  const char* norm1;
  const char* norm2;
  std::vector<std::string> qkv;  // one for all three, or three
  const char* out;
  std::vector<std::string> feed_forward;
};

const BlockNames& names_of(const std::string& type) {
  static const BlockNames gpt2{
      "h.", "ln_1", "ln_2", {"attn.c_attn"}, "attn.c_proj", {"mlp.c_fc", "mlp.c_proj"}};
  static const BlockNames neox{"layers.",
                               "input_layernorm",
                               "post_attention_layernorm",
                               {"attention.query_key_value"},
                               "attention.dense",
                               {"mlp.dense_h_to_4h", "mlp.dense_4h_to_h"}};
  static const BlockNames llama{"layers.",
                                "input_layernorm",
                                "post_attention_layernorm",
                                {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"},
                                "self_attn.o_proj",
                                {"mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"}};
  return type == "gpt2" ? gpt2 : type == "gpt_neox" ? neox : llama;
}

// Where the rows of queries (part 0), keys (1) or values (2) are.
//   gpt2      [all queries | all keys | all values]
//   gpt_neox  the queries, keys and values of head 0, those of head 1, ...
//   others    each in a tensor of its own
SameRows rows_of_part(const std::string& type, int64_t part,
                      const MultiHeadAttention::Config& att) {
  const int64_t width = att.head_width();
  SameRows rows{.count = (part == 0 ? att.num_heads : att.kv_heads()) * width};
  if (type == "gpt2") {
    rows.theirs = part * att.d_out;
  } else if (type == "gpt_neox") {
    rows.theirs = part * width;
    rows.run = width;
    rows.stride = 3 * width;
  }
  return rows;
}

void add_attention(const std::string& type, const std::string& theirs, const std::string& ours,
                   const Gpt& model, TensorList& list) {
  const MultiHeadAttention::Config& att = attention_of(model);
  const BlockNames& names = names_of(type);
  const bool packed = dynamic_cast<const PackedAttention*>(&*model.trf_blocks.front()->att);
  const bool their_bias = !is_llama(type) || att.qkv_bias || att.out_bias;
  const char* const parts[] = {"W_query", "W_key", "W_value"};
  const auto part_of = [&](int64_t part, bool bias) {
    SameRows rows = rows_of_part(type, part, att);
    rows.ours = packed ? part * att.d_out : 0;
    const std::string to = theirs + names.qkv[names.qkv.size() > 1 ? static_cast<size_t>(part) : 0];
    const std::string from = packed ? ours + "in_proj_" : ours + parts[part] + ".";
    bias ? list.vector(to + ".bias", from + "bias", rows, att.qkv_bias)
         : list.weight(to + ".weight", from + "weight", rows, att.d_in);
  };
  for (const bool bias : {false, true}) {
    for (int64_t part = 0; part < 3 && (their_bias || !bias); ++part) part_of(part, bias);
  }
  list.linear(theirs + names.out, ours + "out_proj", att.d_out, att.all_heads(), their_bias,
              att.out_bias);
  if (type == "qwen3") {
    for (const char* part : {"q_norm", "k_norm"}) {
      list.add(theirs + "self_attn." + part + ".weight", ours + part + ".scale",
               {att.head_width()});
    }
  }
}

void add_feed_forward(const std::string& type, const std::string& theirs, const std::string& ours,
                      const Gpt& model, TensorList& list) {
  const FeedForwardSize size = feed_forward_of(model);
  const std::vector<std::string>& names = names_of(type).feed_forward;
  const std::vector<std::string> own =
      names.size() == 3 ? std::vector<std::string>{"gate_proj", "up_proj", "down_proj"}
                        : std::vector<std::string>{"layers.0", "layers.2"};
  const int64_t d = model.config.d_model;
  for (size_t k = 0; k < names.size(); ++k) {
    const bool last = k + 1 == names.size();
    list.linear(theirs + names[k], ours + own[k], last ? d : size.hidden, last ? size.hidden : d,
                !is_llama(type) || size.bias, size.bias);
  }
}

// Learned positions, or the sines as if they had been learned.
void add_positions(const std::string& theirs, const Gpt& model, TensorList& list) {
  const Gpt::Config& c = model.config;
  const bool learned = c.position == "learned";
  TensorPart& part =
      list.add(theirs, learned ? "pos_emb.weight" : "", {c.context_length}, c.d_model);
  if (!learned) {
    const NoGrad off;
    part.fixed =
        (**model.pos_emb)(Input(Tensor(Array::zeros({c.context_length, c.d_model})))).value();
  }
}

}  // namespace

std::vector<TheirTensor> their_tensors(const Architecture& architecture, const Gpt& model) {
  const Gpt::Config& c = model.config;
  const std::string &type = architecture.model_type, &prefix = architecture.prefix;
  TensorList list(/*transposes=*/type == "gpt2");
  const char* const tokens = type == "gpt2"       ? "wte.weight"
                             : type == "gpt_neox" ? "embed_in.weight"
                                                  : "embed_tokens.weight";
  list.add(prefix + tokens, "tok_emb.weight", {c.vocab_size}, c.d_model);
  if (type == "gpt2") add_positions(prefix + "wpe.weight", model, list);
  const BlockNames& names = names_of(type);
  for (int64_t n = 0; n < c.num_layers; ++n) {
    const std::string theirs = text(prefix, names.block, n, "."),
                      ours = text("trf_blocks.", n, ".");
    list.norm(theirs + names.norm1, ours + "norm1", c);
    add_attention(type, theirs, ours + "att.", model, list);
    list.norm(theirs + names.norm2, ours + "norm2", c);
    add_feed_forward(type, theirs, ours + "ff.", model, list);
  }
  list.norm(prefix + (type == "gpt2"       ? "ln_f"
                      : type == "gpt_neox" ? "final_layer_norm"
                                           : "norm"),
            "final_norm", c);
  if (!c.tie_embeddings) list.add(architecture.head, "out_head.weight", {c.vocab_size}, c.d_model);
  return std::move(list.tensors);
}

}  // namespace heed
