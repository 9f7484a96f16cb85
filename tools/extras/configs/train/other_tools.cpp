#include "tools/extras/configs/train/other_tools.h"

#include <algorithm>
#include <iterator>
#include <sstream>

namespace heed {

namespace {

bool contains(const char* list, const std::string& word) {
  std::istringstream words(list);
  return std::find(std::istream_iterator<std::string>(words), {}, word) !=
         std::istream_iterator<std::string>();
}

constexpr const char* blocks =
    "transformer_block decoder_block gpt gpt_classifier classifier encoder_decoder encoder";
constexpr const char* models =
    "gpt gpt_classifier classifier encoder decoder_block encoder_decoder bahdanau "
    "rnn_encoder_decoder transformer_block";
constexpr const char* gpts = "gpt gpt_classifier";
constexpr const char* rnns = "rnn gru lstm";
constexpr const char* text_tasks = "text tokens masked synthetic";
constexpr const char* of_files = "text images labelled masked pairs tokens instructions lines";

// Words, separated by blanks, for a field of these types or sections; "": of any that has it.
struct FieldWords {
  const char *field, *owners, *words, *rule = "";
};
constexpr FieldWords field_words[] = {
    // the whole config
    {"precision", "", "dtype torch_dtype fp32 fp16 bf16", "float32 or float64"},
    {"model", "", "model_type architectures", "{type: gpt, ...}"},
    {"model", "", "GPT_CONFIG_124M gpt_config model_config model_args"},
    {"optimizer", "", "optim optimizer_type optimizer_name", "{type: adamw, sgd, ...}"},
    {"optimizer", "", "momentum nesterov", "{type: sgd, ...}"},
    {"schedule", "", "lr_scheduler scheduler"},
    {"schedule", "", "lr_scheduler_type", "{type: cosine, linear, ...}"},
    {"schedule", "", "min_lr", "{type: cosine, ...}"},
    {"schedule", "", "decay_lr", "{type: cosine, ...} for true"},
    {"train", "", "training trainer"},
    {"eval", "", "evaluate evaluation validation"},
    // models
    {"vocab_size", "", "vocab n_vocab num_embeddings"},
    {"context_length", models,
     "block_size max_position_embeddings n_positions n_ctx seq_len seq_length max_seq_len "
     "context_size context_window max_length max_seq_length sequence_len sequence_length"},
    {"d_model", models, "emb_dim n_embd embed_dim n_embed dim embedding_dim embedding_size"},
    {"d_model", blocks, "hidden_size", "the width of the feed-forward is ff_width"},
    {"num_heads", blocks,
     "n_heads n_head num_attention_heads nhead heads encoder_attention_heads "
     "decoder_attention_heads"},
    {"num_layers", "",
     "n_layers n_layer num_hidden_layers num_blocks depth encoder_layers decoder_layers "
     "num_encoder_layers num_decoder_layers"},
    {"head_dim", gpts, "d_head dim_head head_size"},
    {"qkv_bias", gpts, "attention_bias", "that of the output is attention.out_bias"},
    {"num_kv_heads", gpts, "num_key_value_heads n_kv_groups n_kv_heads"},
    {"dropout", models, "drop_rate"},
    {"dropout", blocks, "resid_pdrop embd_pdrop hidden_dropout"},
    {"dropout", blocks, "attn_pdrop attention_dropout attn_dropout",
     "that of weights is attention.dropout"},
    {"norm_eps", blocks, "rms_norm_eps layer_norm_eps layer_norm_epsilon"},
    {"norm", blocks, "use_rmsnorm use_rms_norm rmsnorm", "rms_norm for true"},
    {"activation", blocks, "activation_function hidden_act"},
    {"hidden_multiplier", blocks, "mlp_ratio"},
    {"ff_width", blocks,
     "intermediate_size n_inner d_ff dim_feedforward hidden_dim ffn_dim mlp_dim ffn_hidden_size"},
    {"ff_width", "gated_feed_forward", "intermediate_size"},
    {"parallel_residual", "", "use_parallel_residual parallel_attn"},
    {"tie_embeddings", "", "tie_word_embeddings weight_tying tie_weights"},
    {"position", "gpt gpt_classifier classifier encoder",
     "pos_emb positional_encoding position_embedding_type"},
    {"position", "gpt gpt_classifier classifier encoder",
     "rope rotary use_rope use_rotary rotary_pos_emb", "rope for true"},
    {"activation", blocks, "ff_glu ff_swish use_swiglu", "swiglu for true"},
    {"alibi", "", "alibi_pos_bias use_alibi"},
    {"init", "", "initializer_range init_std", "gpt2 (0.02)"},
    // attention and other layers
    {"rope_base", gpts, "rope_theta rotary_emb_base"},
    {"rotary_fraction", "", "rotary_pct partial_rotary_factor"},
    {"window", "", "sliding_window"},
    {"soft_cap", "", "attn_logit_softcapping"},
    {"d_latent", "", "kv_lora_rank latent_dim"},
    {"d_query_latent", "", "q_lora_rank"},
    {"d_rope", "", "qk_rope_head_dim"},
    {"num_experts", "", "num_local_experts n_routed_experts"},
    {"top_k", "mixture_of_experts", "num_experts_per_tok"},
    {"load_balancing", "", "router_aux_loss_coef aux_loss_alpha"},
    {"kernel_size", "gated_delta_net", "conv_size"},
    {"d_in", rnns, "input_size"},
    {"d_out", rnns, "hidden_size"},
    {"d_in", "conv1d", "in_channels"},
    {"d_out", "conv1d", "out_channels"},
    {"channels", "patch_embedding", "in_channels num_channels in_chans"},
    {"patch_size", "patch_embedding", "kernel_size"},
    {"rank", "", "r lora_r"},
    {"alpha", "", "lora_alpha"},
    {"dropout", "lora lora_layer", "lora_dropout"},
    {"targets", "", "target_modules"},
    // data
    {"path", of_files,
     "file filename data_path dataset data_file train_file data_dir train "
     "dataset_name root"},
    {"path", "bpe",
     "gpt2 gpt-2 tiktoken r50k_base gpt2tokenizer gpt2tokenizerfast huggingface hf sentencepiece "
     "wordpiece autotokenizer",
     "gpt2/tokenizer.json"},
    {"train_fraction", "", "val_split val_fraction validation_split val_set_size test_size",
     "1 minus this"},
    {"train_fraction", text_tasks, "val val_file val_path validation_file eval_file",
     "the rest of the same text validates"},
    {"validation", "", "val val_file val_path validation_file eval_file"},
    {"separator", "", "delimiter sep"},
    {"max_length", "",
     "max_len cutoff_len max_seq_length model_max_length max_source_length allowed_max_length"},
    {"source", "pairs", "src source_lang src_lang"},
    {"target", "pairs", "tgt target_lang tgt_lang"},
    {"mask_fraction", "", "mlm_probability masked_lm_prob"},
    // optimizers and schedules
    {"lr", "", "learning_rate peak_lr max_lr"},
    {"ns_steps", "", "newton_schulz_steps backend_steps"},
    {"betas", "", "beta1 beta2 adam_beta1 adam_beta2", "a list of both"},
    {"min_lr", "", "eta_min min_learning_rate lr_min final_lr"},
    {"warmup_steps", "", "warmup_iters num_warmup_steps lr_warmup_steps warmup"},
    {"warmup_steps", "", "warmup_ratio pct_start", "this * train.steps"},
    // training
    {"steps", "train", "max_iters max_steps iters iterations num_steps total_steps lr_decay_iters"},
    {"steps", "train", "epochs num_epochs num_train_epochs max_epochs",
     "epochs * training examples / (batch_size * accumulate)"},
    {"batch_size", "train", "per_device_train_batch_size train_batch_size micro_batch_size"},
    {"accumulate", "",
     "gradient_accumulation_steps grad_accumulation_steps grad_accum_steps grad_accum "
     "accumulate_grad_batches"},
    {"shards", "", "num_processes world_size data_parallel_size"},
    {"clip_grad_norm", "", "grad_clip max_grad_norm gradient_clip_val clip_grad max_norm"},
    {"recompute", "", "gradient_checkpointing activation_checkpointing use_checkpoint",
     "blocks for true"},
    {"max_seconds", "", "max_time time_limit"},
    {"log_every", "", "log_interval logging_steps log_every_n_steps log_steps log_freq"},
    {"weights", "train", "init_from", "leave it out for scratch; heed train --resume for resume"},
    {"weights", "train",
     "pretrained resume_from base_model model_name_or_path "
     "pretrained_model_name_or_path"},
    {"freeze", "", "frozen"},
    {"lora", "", "peft adapter lora_config peft_config"},
    {"every", "eval",
     "eval_interval eval_steps eval_freq eval_every interval val_check_interval eval_strategy "
     "evaluation_strategy"},
    {"batches", "eval", "eval_iters eval_iter iters"},
    {"patience", "", "early_stopping early_stopping_patience"},
    {"every", "checkpoint", "save_steps save_every save_interval interval save_strategy"},
    {"keep", "", "save_total_limit max_to_keep"},
    {"best", "", "load_best_model_at_end"},
    {"best", "", "always_save_checkpoint", "true for false"},
    {"best", "", "metric_for_best_model", "by the validation loss"},
    {"every", "sample", "interval"},
    {"prompt", "", "start_context"},
    {"prompt", "sample", "start"},
    {"tokens", "sample", "max_new_tokens max_tokens max_gen_len"},
    {"temperature", "", "temp"},
    {"temperature", "sample", "do_sample", "0 for false"},
    {"end", "", "eos_token_id eos_token eos_id"},
};

struct ValueWords {
  const char *value, *words;
};
constexpr ValueWords value_words[] = {
    {"silu", "swish"},
    {"gelu_tanh", "gelu_new gelu_pytorch_tanh"},
    {"rope", "rotary"},
    {"learned", "absolute learnable embedding"},
    {"float32", "fp32 fp16 bf16 bfloat16"},
    {"float64", "fp64 double"},
    {"gpt", "transformer nanogpt llama"},
    {"encoder", "bert vit"},
    {"encoder_decoder", "seq2seq t5"},
    {"multi_head_attention", "mha flash"},
    {"mixture_of_experts", "moe"},
    {"gated_feed_forward", "swiglu glu geglu"},
    {"labelled", "classification sentiment"},
    {"pairs", "translation seq2seq"},
    {"instructions", "instruct sft alpaca"},
};

// Keys that need no field, and what is said about them.
struct KeyWords {
  const char *about, *words;
};
constexpr KeyWords key_words[] = {
    {"heed computes on the CPU: leave it out",
     "device device_type device_map cuda use_cuda gpu gpus num_gpus use_gpu accelerator backend "
     "mps compile torch_compile num_workers dataloader_num_workers pin_memory amp use_amp flash "
     "ddp flash_attn use_flash_attention flash_attention attn_flash attn_implementation use_cache "
     "load_in_8bit load_in_4bit strategy optimizer.fused optimizer.foreach"},
    {"a run writes metrics.csv and report.html by itself: leave it out",
     "wandb wandb_log wandb_project wandb_run_name use_wandb tensorboard logger report_to log_dir "
     "logging_dir mlflow verbose"},
    {"an option of the command: heed train CONFIG --out DIR, heed train --resume RUN",
     "out_dir output_dir save_dir run_name experiment_name project resume resume_from_checkpoint"},
    {"the key type says which one it is; a run's name: heed train --out", "name"},
    {"the key type says which one it is", "_target_ class_path"},
    {"the data decides it: leave it out",
     "num_labels num_classes n_classes num_class image_size img_size"},
    {"norms stand before attention and feed-forward: leave it out",
     "norm_first norm_position pre_norm prenorm normalize_before do_layer_norm_before"},
    {"an option of heed generate", "num_samples num_return_sequences repetition_penalty min_p"},
    {"here it is tokens", "sample.max_length"},
    {"as with bias: none in peft, none is trained: leave it out", "train.lora.bias"},
    {"it is always a causal language model: leave it out", "train.lora.task_type"},
};

}  // namespace

std::vector<OtherWord> OtherTools::of_field(const std::string& owner,
                                            const std::string& field) const {
  std::vector<OtherWord> found;
  for (const FieldWords& row : field_words) {
    if (row.field != field || !(*row.owners == 0 || contains(row.owners, owner))) continue;
    std::istringstream words(row.words);
    for (std::string word; words >> word;) found.push_back({word, row.rule});
  }
  return found;
}

bool OtherTools::is_value(const std::string& word, const std::string& value) const {
  return std::any_of(std::begin(value_words), std::end(value_words), [&](const ValueWords& row) {
    return row.value == value && contains(row.words, word);
  });
}

std::string OtherTools::about_key(const std::string& key) const {
  for (const KeyWords& row : key_words) {
    if (contains(row.words, key)) return row.about;
  }
  return "";
}

std::vector<std::pair<std::string, std::string>> OtherTools::fields() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const FieldWords& row : field_words) {
    std::istringstream owners(row.owners);
    for (std::string owner; owners >> owner;) all.emplace_back(owner, row.field);
    if (*row.owners == 0) all.emplace_back("", row.field);
  }
  return all;
}

}  // namespace heed
