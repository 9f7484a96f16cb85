#include "tools/extras/hugging_face/train/model_config.h"

#include <algorithm>
#include <new>

#include "autograd/base/modes.h"
#include "layers/config/values.h"
#include "layers/module/registry.h"
#include "layers/text/display.h"
#include "tools/extras/fine_tuning/train/source.h"
#include "tools/extras/hugging_face/train/json.h"
#include "tools/extras/hugging_face/train/keys.h"
#include "tools/extras/hugging_face/train/rope.h"
#include "train/files/files.h"

namespace heed {

namespace fs = std::filesystem;

namespace {

// transformers' names of activations, ours first.
const std::vector<std::pair<std::string, std::string>> activations{
    {"gelu_tanh", "gelu_new"}, {"gelu_tanh", "gelu_pytorch_tanh"},
    {"gelu", "gelu"},          {"relu", "relu"},
    {"relu2", "relu2"},        {"silu", "silu"},
    {"silu", "swish"}};

constexpr const char* no_windows = "heed import makes no attention.window of it";

// Keys without effect on numbers, in config.json or generation_config.json.
const char* const without_effect =
    "model_type heedgrad architectures transformers_version torch_dtype dtype _name_or_path "
    "initializer_range use_cache bos_token_id eos_token_id pad_token_id sep_token_id prefix "
    "decoder_start_token_id task_specific_params tokenizer_class finetuning_task problem_type "
    "is_decoder id2label label2id num_labels classifier_dropout n_ctx gradient_checkpointing "
    "output_past output_attentions output_hidden_states return_dict torchscript use_bfloat16 "
    "tf_legacy_loss chunk_size_feed_forward tie_encoder_decoder attn_implementation "
    "_attn_implementation_autoset transformers.js_config is_llama_config unsloth_version "
    "unsloth_fixed pretraining_tp max_length max_new_tokens output_scores output_logits "
    "return_dict_in_generate remove_invalid_values _from_model_config trust_remote_code "
    "cache_implementation cache_config return_legacy_cache";
// Options of generation, which versions before 5 kept in config.json.
const char* const of_generate =
    "min_length do_sample early_stopping num_beams num_beam_groups diversity_penalty temperature "
    "top_k top_p typical_p repetition_penalty length_penalty no_repeat_ngram_size bad_words_ids "
    "encoder_no_repeat_ngram_size num_return_sequences forced_bos_token_id forced_eos_token_id "
    "exponential_decay_length_penalty suppress_tokens begin_suppress_tokens";

std::string activation_of(Keys& keys, const std::string& key, const std::string& usual) {
  const std::string theirs = keys.words(key, usual);
  for (const auto& [ours, name] : activations) {
    if (name == theirs) return ours;
  }
  keys.cannot(key, "gelu_new, gelu, relu, relu2 or silu");
}

std::string their_activation(const std::string& ours) {
  return std::find_if(activations.begin(), activations.end(),
                      [&](const auto& pair) { return pair.first == ours; })
      ->second;
}

// What every config.json may say, without effect on the logits, and what none may say here.
void read_common(Keys& keys) {
  keys.ignore(without_effect);
  keys.ignore(of_generate);
  keys.require_flag("is_causal", true, true);
  keys.require_flag("is_encoder_decoder", false, false);
  keys.require_flag("add_cross_attention", false, false);
  keys.require_none("quantization_config");
  keys.require_none("pruned_heads");
  for (const ConfigNode& each : keys.get("layer_types").children()) {
    if (each.text() != "full_attention") {
      keys.cannot("layer_types", "full_attention in all of them", no_windows);
    }
  }
  if (!keys.flag("use_sliding_window", keys.words("model_type", "") !=
                                           "qwen3")) {  // then transformers looks at nothing else
    keys.ignore("sliding_window max_window_layers");
  } else if (keys.has("sliding_window")) {
    keys.cannot("sliding_window", "none", no_windows);
  }
}

// The one dropout of a gpt; that of attention weights may be another one.
void set_dropout(ConfigNode& model, double dropout, double of_attention) {
  model.set("dropout", dropout);
  ConfigNode attention = ConfigNode::map({{"type", "multi_head_attention"}});
  if (of_attention != dropout) attention.set("dropout", of_attention);
  model.set("attention", attention);
}

void set_rope_scaling(Keys& keys, ConfigNode& model) {
  if (ConfigNode scaling = read_rope_scaling(keys); !scaling.is_absent()) {
    model.find("attention")->set("rope_scaling", std::move(scaling));
  }
}

ConfigNode gpt_of(int64_t vocab, int64_t context, int64_t width, int64_t layers, int64_t heads) {
  return ConfigNode::map({{"type", "gpt"},
                          {"vocab_size", vocab},
                          {"context_length", context},
                          {"d_model", width},
                          {"num_layers", layers},
                          {"num_heads", heads}});
}

ConfigNode read_gpt2(Keys& keys) {
  const int64_t width = keys.size("n_embd", 768);
  ConfigNode model = gpt_of(keys.size("vocab_size", 50257), keys.size("n_positions", 1024), width,
                            keys.size("n_layer", 12), keys.size("n_head", 12));
  model.set("qkv_bias", true);
  model.set("tie_embeddings", keys.flag("tie_word_embeddings", true));
  model.set("norm_eps", keys.number("layer_norm_epsilon", 1e-5));
  model.set("activation", activation_of(keys, "activation_function", "gelu_new"));
  model.set("ff_width", keys.size("n_inner", 4 * width));
  model.set("init", "gpt2");
  const bool scaled = keys.flag("scale_attn_weights", true);
  keys.require_flag("scale_attn_by_inverse_layer_idx", false, false);
  keys.ignore(
      "reorder_and_upcast_attn summary_activation summary_first_dropout summary_proj_to_labels "
      "summary_type summary_use_proj");
  const double dropout = keys.number("resid_pdrop", 0.1);
  if (keys.number("embd_pdrop", 0.1) != dropout) {
    keys.cannot("embd_pdrop", text("resid_pdrop, ", dropout));
  }
  set_dropout(model, dropout, keys.number("attn_pdrop", 0.1));
  if (!scaled) model.find("attention")->set("scale", 1);
  return model;
}

ConfigNode read_neox(Keys& keys) {
  ConfigNode model =
      gpt_of(keys.size("vocab_size", 50432), keys.size("max_position_embeddings", 2048),
             keys.size("hidden_size", 6144), keys.size("num_hidden_layers", 44),
             keys.size("num_attention_heads", 64));
  model.set("qkv_bias", true);
  model.set("tie_embeddings", keys.flag("tie_word_embeddings", false));
  model.set("norm_eps", keys.number("layer_norm_eps", 1e-5));
  model.set("position", "rope");
  const double base = rope_number(keys, "rotary_emb_base", "rope_theta", 10000);
  model.set("rope_base", base);
  if (keys.number("rope_theta", base) != base) {  // some versions write both keys, others read one
    keys.refuse("rope_theta", text(base, ", the base that transformers takes"));
  }
  model.set("activation", activation_of(keys, "hidden_act", "gelu"));
  model.set("ff_width", keys.size("intermediate_size", 24576));
  model.set("init", "gpt2");
  model.set("parallel_residual", keys.flag("use_parallel_residual", true));
  model.set("rotary_fraction", rope_number(keys, "rotary_pct", "partial_rotary_factor", 0.25));
  keys.require_flag("attention_bias", true, true);
  set_dropout(model, keys.number("hidden_dropout", 0), keys.number("attention_dropout", 0));
  set_rope_scaling(keys, model);
  return model;
}

// A llama, or a qwen3: the same with norms of queries and keys, and other defaults.
ConfigNode read_llama(Keys& keys, bool is_qwen3) {
  const int64_t width = keys.size("hidden_size", 4096);
  const int64_t heads = keys.size("num_attention_heads", 32);
  ConfigNode model = gpt_of(keys.size("vocab_size", is_qwen3 ? 151936 : 32000),
                            keys.size("max_position_embeddings", is_qwen3 ? 32768 : 2048), width,
                            keys.size("num_hidden_layers", 32), heads);
  if (const int64_t few = keys.size("num_key_value_heads", heads); few != heads) {
    model.set("num_kv_heads", few);
  }
  const int64_t usual = is_qwen3 ? 128 : std::max<int64_t>(1, width / heads);
  if (const int64_t own = keys.size("head_dim", usual); heads * own != width) {
    model.set("head_dim", own);
  }
  model.set("norm", "rms_norm");
  model.set("norm_eps", keys.number("rms_norm_eps", 1e-6));
  model.set("position", "rope");
  model.set("rope_base", rope_number(keys, "rope_theta", "rope_theta", 10000));
  if (rope_number(keys, "partial_rotary_factor", "partial_rotary_factor", 1) != 1) {
    keys.cannot("partial_rotary_factor", "1");
  }
  model.set("tie_embeddings", keys.flag("tie_word_embeddings", false));
  model.set("activation", "swiglu");
  model.set("ff_width", keys.size("intermediate_size", is_qwen3 ? 22016 : 11008));
  model.set("init", "gpt2");
  if (activation_of(keys, "hidden_act", "silu") != "silu") keys.cannot("hidden_act", "silu");
  keys.require_flag("rope_interleaved", false, false);
  const bool of_attention = keys.flag("attention_bias", false),
             bias = !is_qwen3 && keys.flag("mlp_bias", false);
  model.set("qkv_bias", of_attention);
  model.set("bias", bias);
  set_dropout(model, 0, keys.number("attention_dropout", 0));
  set_rope_scaling(keys, model);
  if (is_qwen3) model.find("attention")->set("qk_norm", "rms_norm");
  if (of_attention != bias) model.find("attention")->set("out_bias", of_attention);
  return model;
}

}  // namespace

ImportedModel model_of_json(const ConfigNode& json, const std::string& where) {
  Keys keys(json, where);
  const std::string type = keys.words("model_type", "");
  ImportedModel found{.architecture = find_architecture(type), .model = {}};
  if (found.architecture == nullptr) keys.cannot("model_type", architecture_names());
  read_common(keys);
  found.model = type == "gpt2"       ? read_gpt2(keys)
                : type == "gpt_neox" ? read_neox(keys)
                                     : read_llama(keys, type == "qwen3");
  if (const std::vector<std::string> unknown = keys.unknown(); !unknown.empty()) {
    fail<ConfigError>(where, ": ", printable(unknown.front(), 50),
                      ": heed does not know this key, ",
                      "which may change what the model computes; if it does not, remove it");
  }
  return found;
}

Generation read_generation(const fs::path& folder) {
  Generation found;
  const auto note = [&](const fs::path& path, const std::string& key, const char* what) {
    found.notes.push_back(text(path.string(), ": ", printable(key, 50), ": ", what));
  };
  const bool has_own = is_there(folder / "generation_config.json");
  const fs::path path = folder / (has_own ? "generation_config.json" : "config.json"),
                 of_tokenizer = folder / "tokenizer_config.json",
                 jinja = folder / stored_chat_template;
  const ConfigNode json = read_json(path);
  Keys keys(json, path.string());
  const ConfigNode& ends = keys.get("eos_token_id");
  for (const ConfigNode& each : ends.is_scalar() ? std::vector{ends} : ends.children()) {
    found.ends.push_back(whole_number(each).value_or(-1));
    if (found.ends.back() < 0) keys.refuse("eos_token_id", "the id of a token, or a list of them");
  }
  keys.ignore(without_effect);
  std::vector<std::string> left_out = keys.unknown();
  if (!has_own) {  // these are among the keys of the model
    keys.ignore(of_generate);
    for (const std::string& key : keys.unknown()) std::erase(left_out, key);
  }
  for (const std::string& key : left_out) {
    note(path, key, "is not taken from here; heed generate --help lists what it has");
  }
  if (is_there(jinja)) found.chat_template = read_file(jinja, json_limits::config_bytes);
  const ConfigNode said = read_tokenizer_json(of_tokenizer);
  if (const ConfigNode& own = said.get("chat_template"); found.chat_template.empty()) {
    found.chat_template = own.size() > 0 ? own.at(0).get("template").text() : own.text();
  }
  if (!found.chat_template.empty()) {
    note(folder, "chat_template", "heed chat does not ask by it; write a prompt in its form");
  }
  for (const char* key : {"add_bos_token", "add_eos_token"}) {
    if (said.get(key).text() == "true") note(of_tokenizer, key, adds_none);
  }
  found.special_tokens = !found.chat_template.empty() || said.get("add_bos_token").text() == "true";
  return found;
}

namespace {

void write_gpt2(const Gpt& model, ConfigNode& json) {
  const Gpt::Config& c = model.config;
  json.set("n_positions", c.context_length);
  json.set("n_embd", c.d_model);
  json.set("n_layer", c.num_layers);
  json.set("n_head", attention_of(model).num_heads);
  json.set("n_inner", feed_forward_of(model).hidden);
  json.set("activation_function", their_activation(c.activation));
  json.set("layer_norm_epsilon", c.norm_eps);
  json.set("resid_pdrop", c.dropout);
  json.set("embd_pdrop", c.dropout);
  json.set("attn_pdrop", attention_of(model).dropout);
  json.set("scale_attn_weights", attention_of(model).variant.scale != 1);
  json.set("scale_attn_by_inverse_layer_idx", false);
}

void write_rotary(const Gpt& model, ConfigNode& json) {
  const Gpt::Config& c = model.config;
  const MultiHeadAttention::Config& att = attention_of(model);
  json.set("max_position_embeddings", c.context_length);
  json.set("hidden_size", c.d_model);
  json.set("num_hidden_layers", c.num_layers);
  json.set("num_attention_heads", att.num_heads);
  json.set("intermediate_size", feed_forward_of(model).hidden);
  json.set("attention_dropout", att.dropout);
}

void write_neox(const Gpt& model, ConfigNode& json) {
  const Gpt::Config& c = model.config;
  const MultiHeadAttention::Config& att = attention_of(model);
  write_rotary(model, json);
  json.set("hidden_act", their_activation(c.activation));
  json.set("layer_norm_eps", c.norm_eps);
  json.set("hidden_dropout", c.dropout);
  json.set("use_parallel_residual", c.parallel_residual);
  json.set("attention_bias", true);
  json.set("rotary_pct", att.variant.rotary_fraction);
  json.set("rotary_emb_base", att.variant.rope_base);
  write_rope(att, json);
  json.find("rope_parameters")->set("partial_rotary_factor", att.variant.rotary_fraction);
}

void write_llama(const Gpt& model, ConfigNode& json) {
  const Gpt::Config& c = model.config;
  const MultiHeadAttention::Config& att = attention_of(model);
  write_rotary(model, json);
  json.set("num_key_value_heads", att.kv_heads());
  json.set("head_dim", att.head_width());
  json.set("hidden_act", "silu");
  json.set("rms_norm_eps", c.norm_eps);
  json.set("rope_theta", att.variant.rope_base);
  write_rope(att, json);
  json.set("attention_bias", att.qkv_bias || att.out_bias);
  json.set("mlp_bias", feed_forward_of(model).bias);
}

void write_qwen3(const Gpt& model, ConfigNode& json) {
  write_llama(model, json);
  json.erase("mlp_bias");
  json.set("use_sliding_window", false);
}

}  // namespace

ConfigNode json_of_model(const Architecture& architecture, const Gpt& model,
                         const ConfigNode& own) {
  ConfigNode json = ConfigNode::map({{"model_type", architecture.model_type}});
  json.set("architectures", ConfigNode::list({architecture.class_name}));
  json.set("vocab_size", model.config.vocab_size);
  json.set("tie_word_embeddings", model.config.tie_embeddings);
  architecture.model_type == "gpt2"       ? write_gpt2(model, json)
  : architecture.model_type == "gpt_neox" ? write_neox(model, json)
  : architecture.model_type == "qwen3"    ? write_qwen3(model, json)
                                          : write_llama(model, json);
  json.set("heedgrad", ConfigNode::map({{"version", HEED_VERSION}, {"model", own}}));
  return json;
}

std::string export_obstacle(const Architecture& architecture, const Gpt& model) {
  if (const std::string wrong = obstacle(architecture, model); !wrong.empty()) return wrong;
  const MultiHeadAttention::Config& attention = attention_of(model);
  Gpt::Config written = model.config;
  written.rope_base = attention.variant.rope_base;
  written.rotary_fraction = attention.variant.rotary_fraction;
  written.attention = {"multi_head_attention", attention};
  if (written.position == "sinusoidal") {
    written.position = "learned";  // a table of positions with these numbers
  }
  ConfigNode read = model_of_json(json_of_model(architecture, model, {}), "").model;
  read.erase("type");
  const auto differ = differences({"gpt", written}, read_options("layer", "gpt", read));
  return differ.empty() ? ""
                        : lacks(architecture, differ.front().field, differ.front().ours,
                                differ.front().theirs);
}

ConfigNode own_model_of_json(const ConfigNode& json) {
  ConfigNode own = json.get("heedgrad").get("model");
  if (!own.is_map() || own.get("type").text() != "gpt") return {};
  own.set_path("");
  try {
    const ImportedModel theirs = model_of_json(json, "");
    ConfigNode options = own;
    options.erase("type");
    const DryRun dry;
    const std::unique_ptr<Module> made = make_layer("gpt", options);
    const auto& model = dynamic_cast<const Gpt&>(*made);
    if (export_obstacle(*theirs.architecture, model).empty() &&
        model_of_json(json_of_model(*theirs.architecture, model, {}), "").model == theirs.model) {
      return own;
    }
  } catch (const Error&) {           // somebody has changed one of the two
  } catch (const std::bad_alloc&) {  // to something that no machine can address
  }
  return {};
}

}  // namespace heed
