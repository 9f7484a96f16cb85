#include "layers/classifier.h"

#include "layers/module/masked_mean.h"

namespace heed {

void Classifier::Config::fields(Fields& f) {
  f.required("vocab_size", vocab_size, at_least(1), "number of tokens; the data decides if absent")
      .example(7)
      .also_known_as(vocabulary_words);
  f.required("num_classes", num_classes, at_least(1),
             "number of classes; the data decides if absent")
      .example(3);
  block_fields(f);
  f.required("num_layers", num_layers, in_range(0, 1000), "number of transformer blocks")
      .example(1)
      .also_known_as(layers_words);
  f.choice("position", position, {"learned", "sinusoidal", "none"}, "how positions are told apart");
  f.choice("pool", pool, {"mean", "first"}, "what of the sequence is classified");
  attention_field(f, [](Defaults& d) { d.set("causal", false); });
}

void Classifier::Config::check(ConfigErrors& errors, const ConfigNode& at) const {
  BlockConfig::check(errors, at);
  check_heads(errors, at);
}

Classifier::Classifier(const Config& c)
    : config(checked(c)),
      tok_emb(this, "tok_emb", Embedding::Config{.vocab_size = c.vocab_size, .d_model = c.d_model}),
      pos_emb(optional_child<Positional>(
          c.position != "none", this, "pos_emb",
          Positional::Config{
              .context_length = c.context_length, .d_model = c.d_model, .position = c.position})),
      drop_emb(this, "drop_emb", Dropout::Config{.dropout = c.dropout}),
      trf_blocks(child_list<TransformerBlock>(this, "trf_blocks", c.num_layers,
                                              TransformerBlock::Config(config))),
      final_norm(this, "final_norm", make_norm(c)),
      out_head(this, "out_head",
               Linear::Config{.d_in = c.d_model, .d_out = c.num_classes, .bias = c.bias}) {}

Tensor Classifier::forward(const Input& in) {
  require((in.ids.rank() == 1 || in.ids.rank() == 2) && in.ids && in.ids.dim(-1) > 0,
          "classifier: expected ids (B, T) or (T), got ", in.ids.shape());
  require(in.ids.dim(-1) <= config.context_length, "classifier: expected at most context_length ",
          config.context_length, " tokens, got ", in.ids.dim(-1));
  const bool single = in.ids.rank() == 1;
  const Shape whole{single ? 1 : in.ids.dim(0), in.ids.dim(-1)};
  require(!in.mask || in.mask.rank() == 4 || in.mask.shape() == whole,
          "classifier: expected a mask (B, T) = ", whole, " or (B, 1, T, T), got ",
          in.mask.shape());
  Tensor x = tok_emb(single ? in.ids.reshaped({1, in.ids.dim(0)}) : in.ids);  // (B, T, d_model)
  x = drop_emb(pos_emb ? (*pos_emb)(x) : x);
  for (const Child<TransformerBlock>& block : trf_blocks) {
    x = block(in.with(x));
  }
  x = final_norm(x);
  const Mask keep = in.mask.rank() == 4 ? Mask() : in.mask;
  const Tensor pooled = config.pool == "mean" ? masked_mean("classifier", x, keep)
                                              : slice(x, 1, 0, 1);  // (B, 1, d_model)
  const Tensor logits = out_head(pooled);                           // (B, 1, num_classes)
  return reshape(logits, single ? Shape{config.num_classes} : Shape{x.dim(0), config.num_classes});
}

}  // namespace heed
