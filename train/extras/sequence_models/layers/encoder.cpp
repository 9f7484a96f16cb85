#include "train/extras/sequence_models/layers/encoder.h"

#include "autograd/ops/reshape.h"
#include "layers/module/masked_mean.h"

namespace heed {

void Encoder::Config::fields(Fields& f) {
  f.optional("vocab_size", vocab_size, at_least(0),
             "number of tokens, of a model that reads ids; needed where no data gives it")
      .shows();
  block_fields(f);
  num_layers_field(f, 0).example(1);
  position_field(f, {"learned", "sinusoidal", "none"});
  f.optional("patch_size", patch_size, at_least(0),
             "side of a patch, of a model that reads pictures")
      .example(2);
  const char* const decides = "of the pictures; needed where no data gives it";
  f.optional("image_height", image_height, at_least(0), decides).example(4);
  f.optional("image_width", image_width, at_least(0), decides).example(4);
  f.optional("channels", channels, at_least(1), decides);
  f.optional("class_token", class_token,
             "a trained vector in front of the patches, for pool: first");
  f.optional("num_classes", num_classes, at_least(0),
             "number of classes of a sequence or picture; needed where no data gives it")
      .shows()
      .example(3)
      .also_try({0});
  f.choice("pool", pool, {"mean", "first", "last"}, "what of the states is classified");
  attention_field(f, [](Defaults& d) { d.set("causal", false); });
}

void Encoder::Config::check(ConfigErrors& errors, const ConfigNode& at) const {
  TransformerBody::Config::check(errors, at);
  const bool pictures = reads_pictures();
  const char* const without_pictures = "without patch_size; leave it out";
  errors.has_no_effect(at, "image_height", image_height > 0 && !pictures, without_pictures);
  errors.has_no_effect(at, "image_width", image_width > 0 && !pictures, without_pictures);
  errors.has_no_effect(at, "channels", channels > 1 && !pictures, without_pictures);
  errors.has_no_effect(at, "class_token", class_token && !pictures, without_pictures);
  errors.has_no_effect(at, "pool", pool != "mean" && num_classes == 0,
                       "without num_classes; leave it out");
  if (vocab_size > 0 && pictures) {
    errors.add_field(at, "vocab_size", vocab_size, " tokens, but patch_size ", patch_size,
                     " is for pictures; a model reads one of the two");
  }
  if (!pictures) return;
  if (image_height == 0 || image_width == 0) return;  // the data has none, which is reported there
  if (image_height % patch_size != 0 || image_width % patch_size != 0) {
    errors.add_field(at, "patch_size", "must divide the sides of the pictures, ", image_height,
                     " x ", image_width, ", got ", patch_size);
    return;
  }
  const int64_t marks = class_token ? 1 : 0;
  const int64_t patches = image_height / patch_size * (image_width / patch_size);
  if (context_length < patches + marks) {
    errors.add_field(at, "context_length", "expected ", patches + marks, ": ", patches,
                     " patches of ", patch_size, " x ", patch_size, " pixels",
                     marks > 0 ? " and class_token" : "", ", got ", context_length);
  }
}

namespace {

// That of the body: without an embedding of tokens, unless it reads ids.
TransformerBody::Config body_of(const Encoder::Config& c) {
  TransformerBody::Config body = c;
  body.vocab_size = c.reads_ids() ? c.vocab_size : 0;
  return body;
}

}  // namespace

Encoder::Encoder(const Config& c)
    : ClassifyingBody(body_of(checked(c))),
      config(c),
      patch_emb(optional_child<PatchEmbedding>(c.reads_pictures(), this, "patch_emb",
                                               PatchEmbedding::Config{.channels = c.channels,
                                                                      .image_width = c.image_width,
                                                                      .patch_size = c.patch_size,
                                                                      .d_model = c.d_model,
                                                                      .class_token = c.class_token,
                                                                      .bias = c.bias})),
      out_head(optional_child<Linear>(
          c.outputs() > 0, this, "out_head",
          Linear::Config{.d_in = c.d_model, .d_out = c.outputs(), .bias = c.bias})) {}

Signature Encoder::signature() const {
  if (config.reads_ids()) {
    return {.ids = true,
            .vocab_size = config.vocab_size,
            .longest = config.context_length,
            .mask = true};
  }
  if (config.reads_pictures()) {
    return {.width = config.image_width,
            .channels = config.channels,
            .longest = config.image_height,
            .unit = config.patch_size};
  }
  return {.width = config.d_model, .longest = config.context_length, .mask = true};
}

Tensor Encoder::forward(const Input& in) {
  if (!config.reads_ids()) {
    return forward_vectors(patch_emb ? Input((*patch_emb)(in)) : in);
  }
  return config.num_classes > 0 ? classes("encoder", in, config.pool, *out_head)
                                : (*out_head)(states("encoder", in));
}

// in.x (B, T, d_model) or (T, d_model)
Tensor Encoder::forward_vectors(const Input& in) {
  const Tensor x = with_batch("encoder", in.x, config.d_model);
  const int64_t tokens = x.dim(1);
  require(tokens > 0 && tokens <= config.context_length, "encoder: expected 1 to context_length ",
          config.context_length, " vectors, got ", tokens);
  const Tensor states = states_of_vectors(in.with(x));
  if (!out_head) {
    return without_batch(states, in.x);
  }
  const Mask keep = in.mask.rank() == 4 ? Mask() : in.mask;
  const Tensor logits = (*out_head)(pooled("encoder", config.pool, states, keep));  // (B, 1, C)
  const int64_t classes = logits.dim(2);
  return reshape(logits, in.x.rank() == 2 ? Shape{classes} : Shape{x.dim(0), classes});
}

}  // namespace heed
