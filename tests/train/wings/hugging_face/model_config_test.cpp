// config.json as the config of a gpt: what is read, what is refused by name.
#include "train/wings/hugging_face/model_config.h"

#include <doctest/doctest.h>

#include "tests/support/near.h"
#include "tests/support/run_program.h"
#include "train/wings/hugging_face/json.h"
#include "train/yaml/yaml.h"

using namespace heed;
using namespace heed::testing;

namespace {

std::string yaml_of(const std::string& json) {
  return to_yaml(model_of_json(parse_json(json, "config.json"), "config.json").model);
}

std::string error_in(const std::string& json) {
  return error_of([&] { yaml_of(json); });
}

std::string llama(const std::string& more) {
  return "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 4, " + more +
         "}";
}

}  // namespace

TEST_CASE("model_config: the defaults are those of transformers") {
  CHECK(yaml_of("{\"model_type\": \"gpt2\"}") ==
        "type: gpt\nvocab_size: 50257\ncontext_length: 1024\nd_model: 768\nnum_layers: 12\n"
        "num_heads: 12\nqkv_bias: true\ntie_embeddings: true\nnorm_eps: 1e-05\n"
        "activation: gelu_tanh\nff_width: 3072\ninit: gpt2\ndropout: 0.1\n"
        "attention:\n  type: multi_head_attention\n");
  CHECK(yaml_of("{\"model_type\": \"llama\"}") ==
        "type: gpt\nvocab_size: 32000\ncontext_length: 2048\nd_model: 4096\nnum_layers: 32\n"
        "num_heads: 32\nnorm: rms_norm\nnorm_eps: 1e-06\nposition: rope\nrope_base: 10000\n"
        "tie_embeddings: false\nactivation: swiglu\nff_width: 11008\ninit: gpt2\n"
        "qkv_bias: false\nbias: false\ndropout: 0\nattention:\n  type: multi_head_attention\n");
}

TEST_CASE("model_config: fields of a llama") {
  const std::string yaml =
      yaml_of(llama("\"rope_parameters\": {\"rope_theta\": 5e5, \"rope_type\": \"default\"}, "
                    "\"num_key_value_heads\": 2, \"attention_bias\": true, \"head_dim\": 16, "
                    "\"rope_scaling\": null, \"attention_dropout\": 0.25"));
  for (const char* line : {"rope_base: 5e+05\n", "num_kv_heads: 2\n", "qkv_bias: true\n",
                           "bias: false\n", "  out_bias: true\n", "  dropout: 0.25\n"}) {
    CAPTURE(line);
    CHECK(yaml.find(line) != std::string::npos);
  }
  const ImportedModel odd = model_of_json(
      parse_json(llama("\"warp\": 1, \"none\": null, \"torch_dtype\": \"float16\""), ""), "x");
  REQUIRE(odd.notes.size() == 1);
  CHECK(odd.notes[0] == "x: ignored, as heed does not know it: warp");
}

TEST_CASE("model_config: scores without a scale are those of scale 1") {
  const std::string yaml = yaml_of("{\"model_type\": \"gpt2\", \"scale_attn_weights\": false}");
  CHECK(yaml.ends_with("attention:\n  type: multi_head_attention\n  scale: 1\n"));
}

TEST_CASE("model_config: rotary positions of a gpt_neox, as transformers reads them") {
  const auto neox = [](const std::string& more) {
    return "{\"model_type\": \"gpt_neox\", \"use_parallel_residual\": false, " + more + "}";
  };
  const std::string whole = "\"rope_parameters\": {\"partial_rotary_factor\": 1}";
  for (const std::string& more :
       {whole, whole + ", \"rotary_pct\": 1.0", std::string("\"rotary_pct\": 1"),
        std::string("\"rotary_pct\": 1, \"rope_parameters\": {\"rope_theta\": 10000}")}) {
    CHECK(error_in(neox(more)) == "no error");
  }
  const std::string base = "\"rotary_pct\": 1, \"rotary_emb_base\": 5";
  for (const char* more :
       {"", ", \"rope_scaling\": {\"rope_theta\": 5}", ", \"rope_theta\": 5.0"}) {
    CHECK(contains(yaml_of(neox(base + more)), "rope_base: 5\n"));
  }
}

TEST_CASE(
    "model_config: rotary positions that contradict each other are refused with both values") {
  const auto neox = [](const std::string& more) {
    return error_in("{\"model_type\": \"gpt_neox\", \"use_parallel_residual\": false, " + more +
                    "}");
  };
  const std::string at = "config.json: ";
  const std::string of_5 = "\"rope_parameters\": {\"rope_theta\": 5}";
  const std::string whole = "\"rope_parameters\": {\"partial_rotary_factor\": 1}";
  CHECK(neox(whole + ", \"rotary_pct\": 0.25") ==
        at + "rotary_pct: expected 1, as rope_parameters.partial_rotary_factor is, got 0.25");
  CHECK(neox("\"rotary_pct\": 1, \"rotary_emb_base\": 7, " + of_5) ==
        at + "rotary_emb_base: expected 5, as rope_parameters.rope_theta is, got 7");
  CHECK(neox("\"rotary_pct\": 1, \"rope_theta\": 7, " + of_5) ==
        at + "rope_theta: expected 5, the base that transformers takes, got 7");
  CHECK(neox("\"rotary_pct\": 1, \"rope_theta\": 7") ==
        at + "rope_theta: expected 10000, the base that transformers takes, got 7");
  CHECK(neox("\"rotary_pct\": 1, \"rope_scaling\": {\"rope_theta\": 7}, " + of_5) ==
        at + "rope_scaling: expected rope_theta 5, as rope_parameters.rope_theta is, got {  "
             "\"rope_theta\": 7}");
  CHECK(error_in(llama("\"rope_theta\": 7, " + of_5)) ==
        at + "rope_theta: expected 5, as rope_parameters.rope_theta is, got 7");
  CHECK(error_in(llama("\"rope_theta\": 5, " + of_5)) == "no error");
  for (const char* half : {"\"partial_rotary_factor\": 0.5",
                           "\"rope_parameters\": {\"partial_rotary_factor\": 0.5}"}) {
    CHECK(
        contains(error_in(llama(half)), "partial_rotary_factor: expected 1, as heed has nothing "));
  }
}

// The key of earlier versions, as Llama 3.2 has it, and that of transformers 5.
TEST_CASE("model_config: rotary positions as in Llama 3.1 and later") {
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const std::string yaml =
        yaml_of(llama(std::string("\"rope_theta\": 500000.0, \"") + key +
                      "\": {\"factor\": 32.0, \"high_freq_factor\": 4.0, \"low_freq_factor\": 1.0, "
                      "\"original_max_position_embeddings\": 8192, \"rope_type\": \"llama3\"}"));
    CHECK(contains(yaml, "rope_base: 5e+05\n"));
    CHECK(
        yaml.ends_with("attention:\n  type: multi_head_attention\n  rope_scaling:\n"
                       "    factor: 32\n    low_freq_factor: 1\n    high_freq_factor: 4\n"
                       "    original_max_position_embeddings: 8192\n"));
  }
  const std::string as_before =
      "{\"factor\": 1, \"high_freq_factor\": 4, \"low_freq_factor\": 1, "
      "\"original_max_position_embeddings\": 64, \"rope_type\": \"llama3\"}";
  CHECK(!contains(yaml_of(llama("\"rope_scaling\": " + as_before)), "rope_scaling"));
}

TEST_CASE("model_config: heads of a width of their own, in a qwen3 and in a llama") {
  const std::string qwen3 = yaml_of("{\"model_type\": \"qwen3\", \"num_key_value_heads\": 8}");
  for (const char* line : {"num_kv_heads: 8\n", "vocab_size: 151936\n", "norm_eps: 1e-06\n",
                           "bias: false\n", "  qk_norm: rms_norm\n"}) {
    CHECK_MESSAGE(contains(qwen3, line), line, qwen3);
  }
  CHECK(!contains(qwen3, "head_dim"));  // 32 heads of 128 are 4096
  CHECK(contains(
      yaml_of("{\"model_type\": \"qwen3\", \"hidden_size\": 1024, \"num_attention_heads\": 16}"),
      "head_dim: 128\n"));
  CHECK(contains(yaml_of(llama("\"head_dim\": 8")), "head_dim: 8\n"));
}

// The keys of the published folders pythia-14m, Qwen3-0.6B, gpt2 and SmolLM2-135M.
TEST_CASE("model_config: published folders leave nothing to note") {
  const std::string pythia =
      "{\"architectures\": [\"GPTNeoXForCausalLM\"], \"bos_token_id\": 0, \"eos_token_id\": 0, "
      "\"hidden_act\": \"gelu\", \"hidden_size\": 128, \"initializer_range\": 0.02, "
      "\"intermediate_size\": 512, \"layer_norm_eps\": 1e-05, \"max_position_embeddings\": 2048, "
      "\"model_type\": \"gpt_neox\", \"num_attention_heads\": 4, \"num_hidden_layers\": 6, "
      "\"rotary_emb_base\": 10000, \"rotary_pct\": 0.25, \"tie_word_embeddings\": false, "
      "\"torch_dtype\": \"float16\", \"use_cache\": true, \"use_parallel_residual\": true, "
      "\"vocab_size\": 50304}";
  CHECK(contains(yaml_of(pythia), "parallel_residual: true\nrotary_fraction: 0.25\n"));
  const std::string usual = yaml_of("{\"model_type\": \"gpt_neox\"}");
  CHECK(contains(usual, "parallel_residual: true\nrotary_fraction: 0.25\n"));
  const std::string smollm2 =
      "{\"_name_or_path\": \"x\", \"architectures\": [\"LlamaForCausalLM\"], "
      "\"attention_bias\": false, \"attention_dropout\": 0.0, \"bos_token_id\": 0, "
      "\"eos_token_id\": 0, \"hidden_act\": \"silu\", \"hidden_size\": 576, "
      "\"initializer_range\": 0.0416, \"intermediate_size\": 1536, \"is_llama_config\": true, "
      "\"max_position_embeddings\": 8192, \"model_type\": \"llama\", "
      "\"num_attention_heads\": 9, \"num_hidden_layers\": 30, \"num_key_value_heads\": 3, "
      "\"pretraining_tp\": 1, \"rms_norm_eps\": 1e-05, \"rope_interleaved\": false, "
      "\"rope_scaling\": null, \"rope_theta\": 100000, \"tie_word_embeddings\": true, "
      "\"torch_dtype\": \"bfloat16\", \"use_cache\": true, \"vocab_size\": 49152}";
  const std::string gpt2 =
      "{\"activation_function\": \"gelu_new\", \"model_type\": \"gpt2\", \"n_ctx\": 1024, "
      "\"summary_type\": \"cls_index\", \"task_specific_params\": {\"text-generation\": "
      "{\"do_sample\": true, \"max_length\": 50}}, \"vocab_size\": 50257}";
  const std::string qwen3 =
      "{\"architectures\": [\"Qwen3ForCausalLM\"], \"attention_bias\": false, "
      "\"attention_dropout\": 0.0, \"bos_token_id\": 151643, \"eos_token_id\": 151645, "
      "\"head_dim\": 128, \"hidden_act\": \"silu\", \"hidden_size\": 1024, "
      "\"initializer_range\": 0.02, \"intermediate_size\": 3072, "
      "\"max_position_embeddings\": 40960, \"max_window_layers\": 28, \"model_type\": \"qwen3\", "
      "\"num_attention_heads\": 16, \"num_hidden_layers\": 28, \"num_key_value_heads\": 8, "
      "\"rms_norm_eps\": 1e-06, \"rope_scaling\": null, \"rope_theta\": 1000000, "
      "\"sliding_window\": null, \"tie_word_embeddings\": true, \"torch_dtype\": \"bfloat16\", "
      "\"transformers_version\": \"4.51.0\", \"use_cache\": true, \"use_sliding_window\": false, "
      "\"vocab_size\": 151936}";
  for (const std::string& json : {smollm2, gpt2, pythia, qwen3}) {
    CHECK(model_of_json(parse_json(json, "x"), "x").notes.empty());
  }
}

// Reading all of it first took 19 s: each key was compared with all before it.
TEST_CASE("model_config: a file of very many keys is refused at the first too many") {
  std::string keys = "{\"model_type\": \"gpt2\"", list = "{\"a\": [0";
  while (keys.size() < 990'000) keys += text(", \"key ", keys.size(), "\": 1");
  while (list.size() < 990'000) list += ", [1]";
  for (const std::string& json : {keys + "}", list + "]}"}) {
    CHECK(error_in(json) == "config.json: expected at most 1000 entries in brackets, got more");
  }
}

TEST_CASE("model_config: what cannot be honoured is refused by name") {
  const std::string as = ", as heed has nothing else; got ";
  const std::string gpt2 = "{\"model_type\": \"gpt2\", ";
  const std::string scaling =
      "{\"factor\": 32.0, \"high_freq_factor\": 4.0, \"low_freq_factor\": 1.0, "
      "\"original_max_position_embeddings\": 8192, \"rope_type\": \"llama3\"}";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"{}", "model_type: expected gpt2, gpt_neox, llama or qwen3" + as + "nothing"},
      {"{\"model_type\": \"mistral\"}",
       "model_type: expected gpt2, gpt_neox, llama or qwen3" + as + "mistral"},
      {gpt2 + "\"scale_attn_by_inverse_layer_idx\": true}",
       "scale_attn_by_inverse_layer_idx: expected false" + as + "true"},
      {gpt2 + "\"activation_function\": \"tanh\"}",
       "activation_function: expected gelu_new, gelu, relu, relu2 or silu" + as + "tanh"},
      {gpt2 + "\"embd_pdrop\": 0}", "embd_pdrop: expected resid_pdrop, 0.1" + as + "0"},
      {gpt2 + "\"add_cross_attention\": true}",
       "add_cross_attention: expected false" + as + "true"},
      {gpt2 + "\"quantization_config\": {\"bits\": 4}}",
       "quantization_config: expected none" + as + "{  \"bits\": 4}"},
      {llama("\"rope_scaling\": {\"type\": \"linear\", \"factor\": 2}"),
       "rope_scaling: expected rope_type default or llama3" + as +
           "{  \"type\": \"linear\",  \"factor\": 2}"},
      {llama("\"rope_scaling\": {\"factor\": 2}"),
       "rope_scaling: expected rope_type default or llama3" + as + "{  \"factor\": 2}"},
      {llama("\"rope_parameters\": {\"rope_type\": \"llama3\"}"),
       "rope_parameters: expected rope_type llama3 with a number factor, got {  \"rope_type\": "
       "\"llama3\"}"},
      {llama("\"rope_parameters\": {\"rope_theta\": 5}, \"rope_scaling\": " + scaling),
       "rope_scaling: expected rope_type default, as rope_parameters has, got {"},
      {llama("\"original_max_position_embeddings\": 9, \"rope_scaling\": " + scaling),
       "original_max_position_embeddings: expected 8192, as "
       "rope_scaling.original_max_position_embeddings is, got 9"},
      {llama("\"sliding_window\": 8"), "sliding_window: expected none" + as + "8"},
      {llama("\"hidden_act\": \"gelu\""), "hidden_act: expected silu" + as + "gelu"},
      {"{\"model_type\": \"qwen3\", \"use_sliding_window\": true, \"sliding_window\": 8}",
       "sliding_window: expected none" + as + "8"},
      {"{\"model_type\": \"qwen3\", \"layer_types\": [\"full_attention\", \"sliding_attention\"]}",
       "layer_types: expected full_attention in all of them" + as},
      {gpt2 + "\"n_embd\": \"wide\"}",
       "n_embd: expected a whole number from 1 to 16777216, got wide"},
      {gpt2 + "\"n_layer\": 0}", "n_layer: expected a whole number from 1 to 16777216, got 0"},
      {gpt2 + "\"n_layer\": 1e30}",
       "n_layer: expected a whole number from 1 to 16777216, got 1e+30"},
      {gpt2 + "\"n_head\": [1]}", "n_head: expected a whole number from 1 to 16777216, got [  1]"},
      {gpt2 + "\"layer_norm_epsilon\": true}", "layer_norm_epsilon: expected a number, got true"},
      {gpt2 + "\"tie_word_embeddings\": 1}", "tie_word_embeddings: expected true or false, got 1"},
      {gpt2 + "\"n_layer\": [}", "expected JSON, got an error at line 1"},
      {gpt2 + "\"n_layer\": 2, \"n_layer\": 3}",
       "expected every key of an object once, got n_layer twice"},
      {"[]", "expected an object {...}, got array"},
      {"{\"a\": [[[[[[[[[[[[1]]]]]]]]]]]]}", "expected at most 10 levels of brackets, got more"}};
  for (const auto& each : cases) {
    CAPTURE(each.first);
    CHECK(error_in(each.first).find("config.json: " + each.second) == 0);
  }
}
