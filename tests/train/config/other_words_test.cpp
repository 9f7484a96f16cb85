// Keys of other tools and misspelt names: what the message leads to. The words are declared at the
// fields (also_known_as); this table says which ones must be.
#include <doctest/doctest.h>

#include "tests/support/near.h"
#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;

namespace {

// What follows "PATH: " in the message about `--set ARGUMENT`.
struct Hint {
  std::string argument, hint;
};

const std::vector<Hint> words_of_other_tools = {
    // the book
    {"model.emb_dim=8", "here it is d_model"},
    {"model.drop_rate=0.1", "here it is dropout"},
    {"model.n_heads=2", "here it is num_heads"},
    {"model.n_layers=2", "here it is num_layers"},
    {"model.n_kv_groups=1", "here it is num_kv_heads"},
    {"train.num_epochs=1",
     "here it is steps: epochs * training examples / (batch_size * accumulate)"},
    {"eval.eval_freq=5", "here it is every"},
    {"eval.eval_iter=5", "here it is batches"},
    {"sample.start_context=a", "here it is prompt"},
    // nanoGPT
    {"model.n_embd=8", "here it is d_model"},
    {"model.n_head=2", "here it is num_heads"},
    {"model.n_layer=2", "here it is num_layers"},
    {"model.block_size=8", "here it is context_length"},
    {"optimizer.learning_rate=1e-3", "here it is lr"},
    {"optimizer.beta1=0.9", "here it is betas: a list of both"},
    {"optimizer.beta2=0.99", "here it is betas: a list of both"},
    {"train.max_iters=5", "here it is steps"},
    {"train.grad_clip=1", "here it is clip_grad_norm"},
    {"train.gradient_accumulation_steps=2", "here it is accumulate"},
    {"eval.eval_interval=5", "here it is every"},
    {"eval.eval_iters=5", "here it is batches"},
    {"schedule.warmup_iters=5", "here it is warmup_steps"},
    {"train.log_interval=5", "here it is log_every"},
    // Hugging Face
    {"model.n_embd=8", "here it is d_model"},
    {"model.num_attention_heads=2", "here it is num_heads"},
    {"model.num_hidden_layers=2", "here it is num_layers"},
    {"model.max_position_embeddings=8", "here it is context_length"},
    {"model.num_key_value_heads=1", "here it is num_kv_heads"},
    {"model.tie_word_embeddings=true", "here it is tie_embeddings"},
    {"train.max_grad_norm=1", "here it is clip_grad_norm"},
    {"train.per_device_train_batch_size=4", "here it is batch_size"},
    {"evaluation={every: 5}", "here it is eval"},
    {"model.n_positions=8", "here it is context_length"},
    {"model.n_ctx=8", "here it is context_length"},
    {"model.seq_len=8", "here it is context_length"},
    {"model.max_seq_len=8", "here it is context_length"},
    {"model.hidden_size=8", "here it is d_model: the width of the feed-forward is ff_width"},
    {"model.intermediate_size=8", "here it is ff_width"},
    {"model.n_inner=8", "here it is ff_width"},
    {"model.d_ff=8", "here it is ff_width"},
    {"model.rms_norm_eps=1e-6", "here it is norm_eps"},
    {"model.layer_norm_epsilon=1e-6", "here it is norm_eps"},
    {"model.rope_theta=1e4", "here it is rope_base"},
    {"model.rotary_emb_base=1e4", "here it is rope_base"},
    {"model.rotary_pct=0.25", "here it is rotary_fraction"},
    {"model.partial_rotary_factor=0.25", "here it is rotary_fraction"},
    {"model.use_parallel_residual=true", "here it is parallel_residual"},
    {"model.hidden_act=gelu", "here it is activation"},
    {"model.activation_function=gelu", "here it is activation"},
    {"model.resid_pdrop=0.1", "here it is dropout"},
    {"model.attn_pdrop=0.1", "here it is dropout: that of weights is attention.dropout"},
    {"optimizer.adam_beta1=0.9", "here it is betas: a list of both"},
    {"train.logging_steps=5", "here it is log_every"},
    {"schedule.num_warmup_steps=5", "here it is warmup_steps"},
    {"eval.eval_steps=5", "here it is every"},
    {"checkpoint.save_steps=5", "here it is every"},
    {"checkpoint.save_total_limit=5", "here it is keep"},
    // PyTorch, Lightning
    {"model.nhead=2", "here it is num_heads"},
    {"model.embed_dim=8", "here it is d_model"},
    {"train.max_steps=5", "here it is steps"},
    {"train.gradient_clip_val=1", "here it is clip_grad_norm"},
    {"train.accumulate_grad_batches=2", "here it is accumulate"},
    {"train.log_every_n_steps=2", "here it is log_every"},
    {"model.dim_feedforward=8", "here it is ff_width"},
    {"lr_scheduler={type: cosine}", "here it is schedule"},
    {"scheduler={type: cosine}", "here it is schedule"},
    {"trainer={steps: 5}", "here it is train"},
    {"training={steps: 5}", "here it is train"},
    {"evaluate={every: 5}", "here it is eval"},
    {"validation={every: 5}", "here it is eval"},
    // In the wrong section, or in none
    {"learning_rate=1e-3", "here it is optimizer.lr"},
    {"model.learning_rate=1e-3", "here it is optimizer.lr"},
    {"train.learning_rate=1e-3", "here it is optimizer.lr"},
    {"max_iters=5", "here it is train.steps"},
    {"grad_clip=1", "here it is train.clip_grad_norm"},
    {"optimizer.max_grad_norm=1", "here it is train.clip_grad_norm"},
    {"n_embd=8", "here it is model.d_model"},
    {"hidden_size=8", "here it is model.d_model: the width of the feed-forward is ff_width"},
    {"data.seq_len=8", "here it is model.context_length"},
    {"n_positions=8", "here it is model.context_length"},
    {"train.n_layer=2", "here it is model.num_layers"},
    {"block_size=8", "here it is model.context_length"},
    {"data.block_size=8", "here it is model.context_length"},
    {"train.warmup_iters=5", "here it is schedule.warmup_steps"},
    {"train.eval_interval=5", "here it is eval.every"},
    {"eval_iters=5", "here it is eval.batches"},
    {"beta2=0.99", "here it is optimizer.betas: a list of both"},
    {"drop_rate=0.1", "here it is model.dropout"},
    {"gradient_accumulation_steps=2", "here it is train.accumulate"},
    // Short and common ones
    {"sample.max_new_tokens=5", "here it is tokens"},
    {"max_new_tokens=5", "here it is sample.tokens"},
    {"sample.temp=1", "here it is temperature"},
    {"eval.interval=5", "here it is every"},
    {"eval.iters=5", "here it is batches"},
    {"train.iters=5", "here it is steps"},
    {"checkpoint.interval=5", "here it is every"},
    {"data.val_split=0.1", "here it is train_fraction: 1 minus this"},
    {"train.grad_accum=2", "here it is accumulate"},
    {"train.grad_accumulation_steps=2", "here it is accumulate"},
    {"grad_accum_steps=2", "here it is train.accumulate"},
    {"dtype=float32", "here it is precision: float32 or float64"},
    {"train.dtype=bfloat16", "here it is precision: float32 or float64"},
    {"fp32=true", "here it is precision: float32 or float64"},
    {"train.bf16=true", "here it is precision: float32 or float64"},
    {"train.epochs=3", "here it is steps: epochs * training examples / (batch_size * accumulate)"},
    {"optimizer.epochs=3",
     "here it is train.steps: epochs * training examples / (batch_size * accumulate)"},
    {"model.vocab=21", "here it is vocab_size"},
    {"model.heads=2", "here it is num_heads"},
    {"model.hidden_dim=8", "here it is ff_width"},
    {"model.num_embeddings=21", "here it is vocab_size"},
    {"model.mlp_ratio=4", "here it is hidden_multiplier"},
    {"model.depth=2", "here it is num_layers"},
    {"data.filename=a.txt", "here it is path"},
    {"data.dataset=a.txt", "here it is path"},
    {"eval.eval_every=5", "here it is every"},
    {"train.log_steps=5", "here it is log_every"},
    {"train.early_stopping_patience=5", "here it is eval.patience"},
    // A key of heed's own, in the wrong section or in none
    {"lr=1e-3", "here it is optimizer.lr"},
    {"train.weight_decay=0", "here it is optimizer.weight_decay"},
    {"train.warmup_steps=5", "here it is schedule.warmup_steps"},
    {"train.seed=5", "here it is seed"},
    {"optimizer.dropout=0.1", "here it is model.dropout"},
    {"tokenizer=char", "here it is data.tokenizer"},
    {"model.tokenizer=char", "here it is data.tokenizer"},
    {"optimizer.clip_grad_norm=1", "here it is train.clip_grad_norm"},
    {"train.every=5", "here it is eval.every, checkpoint.every or sample.every"},
};

const std::vector<Hint> misspellings = {
    {"optimizer.type=adamv", "unknown optimizer adamv, did you mean adamw?"},
    {"optimizer.type=adamW", "unknown optimizer adamW, did you mean adamw?"},
    {"optimizer.type=AdamW", "unknown optimizer AdamW, did you mean adamw?"},
    {"optimizer.type=Adam", "unknown optimizer Adam, did you mean adam?"},
    {"optimizer.type=SGD", "unknown optimizer SGD, did you mean sgd?"},
    {"model.type=GPT", "unknown layer GPT, did you mean gpt?"},
    {"model.norm=LayerNorm",
     "expected layer_norm or rms_norm, got LayerNorm; did you mean layer_norm?"},
    {"model.D_MODEL=8", "unknown key, did you mean d_model?"},
    {"model.d_modle=8", "unknown key, did you mean d_model?"},
    {"model.nun_heads=2", "unknown key, did you mean num_heads?"},
    {"model.Dropout=0.1", "unknown key, did you mean dropout?"},
    {"model.heads=2", "here it is num_heads"},
    {"model.attention=causal",
     "expected a layer, written {type: NAME, ...}, or a list of one or more, got causal; did you "
     "mean {type: causal_attention}?"},
    {"model.dropout=10%", "expected a number from 0 to below 1, got 10%; write 0.1"},
    {"optimizer.001=null", "unknown key; if this is a decimal comma, write a point: 0.001"},
    {"model.tie_embedding=true", "unknown key, did you mean tie_embeddings?"},
    {"model.n_emb=8", "here it is d_model"},
    {"optimizer.lerning_rate=1e-3", "here it is lr"},
    {"optimizer.weight_decy=0", "unknown key, did you mean weight_decay?"},
    {"optimizr={lr: 1}", "unknown key, did you mean optimizer?"},
    {"shedule={type: cosine}", "unknown key, did you mean schedule?"},
    {"chekpoint={keep: 1}", "unknown key, did you mean checkpoint?"},
    {"Eval={every: 5}", "unknown key, did you mean eval?"},
    {"train.batchsize=4", "unknown key, did you mean batch_size?"},
    {"train.stpes=5", "unknown key, did you mean steps?"},
    {"train.max_iter=5", "here it is steps"},
    // Near nothing: the two nearest, and where the list is
    {"model.zzz=1", "unknown key; the nearest are bias and norm; see heed layers gpt"},
    {"zzz=1", "unknown key; the nearest are seed and data; see heed layers"},
    {"eval.zzz=1", "unknown key; the keys here are every, batches, patience, probe"},
    {"optimizer.zzz=1", "unknown key; the keys here are lr, betas, eps, weight_decay, decay"},
};

// The messages about the small config with these arguments.
std::vector<ConfigMistake> mistakes_with(const std::vector<std::string>& arguments) {
  const TempDir folder;
  try {
    load_small(folder, arguments);
  } catch (const ConfigMistakes& error) {
    return error.mistakes;
  }
  return {};
}

int check_hints(const std::vector<Hint>& hints) {
  int checked = 0;
  for (const Hint& each : hints) {
    const std::vector<ConfigMistake> mistakes = mistakes_with({each.argument});
    REQUIRE_MESSAGE(mistakes.size() == 1, each.argument);
    CHECK(mistakes.front().path == each.argument.substr(0, each.argument.find('=')));
    CHECK(mistakes.front().message == each.hint);
    CHECK(mistakes.front().message.size() < 200);
    ++checked;
  }
  return checked;
}

}  // namespace

TEST_CASE("other words: keys of the book, nanoGPT, Hugging Face, PyTorch and Lightning") {
  CHECK(check_hints(words_of_other_tools) >= 100);
}

TEST_CASE("other words: hidden_size is the model's width, and was once that of the feed-forward") {
  // A config of Hugging Face's words: nothing is missing, but four keys are called otherwise.
  const std::vector<ConfigMistake> mistakes =
      mistakes_with({"model={type: gpt, hidden_size: 8, n_positions: 8, num_hidden_layers: 1, "
                     "num_attention_heads: 2}"});
  REQUIRE(mistakes.size() == 4);
  CHECK(mistakes[0].message == "here it is d_model: the width of the feed-forward is ff_width");
  // A user's config that has both is none of an earlier version.
  CHECK(contains(error_of([] {
                   read_options("layer", "gpt",
                                parse_config("{vocab_size: 9, context_length: 4, d_model: 6, "
                                             "num_layers: 1, num_heads: 2, hidden_multiplier: 4, "
                                             "hidden_size: 5}",
                                             ""));
                 }),
                 "hidden_size: here it is d_model"));
}

TEST_CASE("configs of earlier versions: old names, and fields that another one turns off") {
  const auto now = [](const std::string& old) {
    ConfigNode layer = parse_config(old, "");
    bring_up_to_date(layer);
    return to_yaml(layer);
  };
  CHECK(now("{type: gpt, hidden_multiplier: 4, hidden_size: 5}") ==
        "type: gpt\nhidden_multiplier: 4\nff_width: 5\n");
  CHECK(now("{type: gpt, hidden_size: 5, ff_width: 6}") ==
        "type: gpt\nhidden_size: 5\nff_width: 6\n");
  CHECK(now("{type: no_layer, hidden_size: 5}") == "type: no_layer\nhidden_size: 5\n");
  CHECK(now("{type: gpt, feed_forward: {type: gated_feed_forward, hidden_size: 5}}") ==
        "type: gpt\nfeed_forward:\n  type: gated_feed_forward\n  ff_width: 5\n");
  CHECK(now("{type: gpt, bias: false, attention: {type: packed_attention, out_proj: false, "
            "out_bias: true}}") ==
        "type: gpt\nbias: false\nattention:\n  type: packed_attention\n  out_proj: false\n");
  CHECK(now("{type: sequential, layers: [{type: multi_head_attention, out_proj: false, out_bias: "
            "true}, {type: multi_head_attention, out_proj: true, out_bias: true}]}") ==
        now("{type: sequential, layers: [{type: multi_head_attention, out_proj: false}, {type: "
            "multi_head_attention, out_proj: true, out_bias: true}]}"));
}

TEST_CASE("configs of earlier versions: a run's config is one, a user's is not") {
  const TempDir folder;
  const std::string old =
      "precision: " + std::string(precision_name) +
      "\nmodel: {type: gpt, hidden_multiplier: 4, hidden_size: 5}\nsample: {every: none}\n";
  write_text(folder / "config.yaml", old);
  write_text(folder / "other.yaml", old);
  const auto has_new_name = [&](const char* name) {
    return read_run_tree(folder / name).root.get("model").has("ff_width");
  };
  CHECK_FALSE(has_new_name("config.yaml"));
  std::filesystem::create_directory(folder / "checkpoints");
  CHECK(has_new_name("config.yaml"));
  CHECK_FALSE(has_new_name("other.yaml"));
  write_text(folder / "config.yaml", "model: {type: gpt, hidden_multiplier: 4, hidden_size: 5}\n");
  CHECK_FALSE(has_new_name("config.yaml"));
}

TEST_CASE("other words: misspelt keys and values") { CHECK(check_hints(misspellings) >= 20); }
