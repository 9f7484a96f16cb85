// One block of a GPT: attention and feed-forward, each preceded by a norm and bypassed by a
// shortcut. The book, section 4.5; Radford et al. 2019 (pre-norm).
//   x (B, T, d_model) -> x (B, T, d_model)
//   x = x + drop(att(norm1(x)))
//   x = x + drop(ff(norm2(x)))
// `feed_forward: none` leaves out the second line and its norm: the attention-only models of Elhage
// et al. 2021, "A Mathematical Framework for Transformer Circuits".
// `parallel_residual: true`: both branches read the x that enters the block, as in GPT-NeoX:
//   x = x + drop(att(norm1(x))) + drop(ff(norm2(x)))
#pragma once

#include <optional>

#include "layers/block_config.h"
#include "layers/dropout.h"
#include "layers/feed_forward.h"
#include "layers/module/children.h"
#include "layers/module/masks.h"

namespace heed {

// Returns ff(in), which must have the shape of in.x.
inline Tensor fed(const Child<Module>& ff, const Input& in) {
  Tensor y = ff(in);
  require(y.shape() == in.x.shape(), "expected the feed-forward ", ff->path(), " to give ",
          in.x.shape(), ", the shape of x, got ", y.shape());
  return y;
}

class TransformerBlock final : public Module {
 public:
  static constexpr const char* help = "attention and feed-forward with norms and shortcuts";

  using Config = BlockConfig;

  explicit TransformerBlock(const Config& c)
      : config(checked(c)),
        att(this, "att", make_layer(config.attention)),
        ff(optional_child(this, "ff",
                          config.has_feed_forward() ? make_layer(config.feed_forward) : nullptr)),
        norm1(this, "norm1", make_norm(c)),
        norm2(optional_child(this, "norm2", ff ? make_norm(c) : nullptr)),
        drop_shortcut(this, "drop_shortcut", Dropout::Config{.dropout = c.dropout}) {}

  Signature signature() const override {
    const Signature attended = Signature::of_tokens(config.d_model).then(att->signature());
    return ff ? attended.then((*ff)->signature()) : attended;
  }

  std::vector<Branch> branches() const override {
    std::vector<Branch> all{{&*norm1, &*att, true}};
    if (ff) all.push_back({&**norm2, &**ff, false, config.parallel_residual});
    return all;
  }

  const Config config;
  Child<Module> att;
  std::optional<Child<Module>> ff;
  Child<Module> norm1;
  std::optional<Child<Module>> norm2;
  Child<Dropout> drop_shortcut;

 protected:
  Tensor forward(const Input& in) override {
    require_unseen(*att, in.mask);
    Tensor x = att(in.with(norm1(in.x)));
    require(x.shape() == in.x.shape(), "transformer_block: expected the attention to give ",
            in.x.shape(), ", the shape of x, got ", x.shape());
    x = drop_shortcut->add_to(in.x, x);
    const Tensor& read = config.parallel_residual ? in.x : x;
    return ff ? drop_shortcut->add_to(x, fed(*ff, in.with((*norm2)(read)))) : x;
  }
};
HEED_LAYER(TransformerBlock, "transformer_block");

}  // namespace heed
