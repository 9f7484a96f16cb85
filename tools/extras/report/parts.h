// The parts of a model that probes tell apart, and an observer that knows which of them is running:
// blocks, in each its attention and feed-forward, in attention its heads.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "layers/module/module.h"

namespace heed::probe {

// A layer with branches, such as a transformer_block or decoder_block.
struct Block {
  const Module* layer = nullptr;
  int64_t number = 0;                    // in its stack, from 0, as in its path
  std::vector<const Module*> attention;  // att and, in a decoder block, cross_att
  const Module* feed_forward = nullptr;  // null with feed_forward: none
};

// The blocks of a model, a vector for each stack of them: one for a gpt or a classifier, those of
// the encoder and those of the decoder for an encoder_decoder.
std::vector<std::vector<Block>> stacks_in(const Module& model);
// The same for a probe that needs some: throws ConfigError, which `probe` begins, if there are
// none.
std::vector<std::vector<Block>> stacks_of(const Module& model, const std::string& probe);
// Those of a model that reads one sequence. Throws ConfigError for others.
std::vector<Block> blocks_of_one_sequence(const Module& model, const Input& in,
                                          const std::string& probe);

// Where the residual stream of blocks, all of a stack, begins and ends.
struct Ends {
  Array embedding;               // what the first layer that reads ids gives, or no array
  Array stream;                  // what the first block is given
  Array x;                       // what the last block gives
  const Module* norm = nullptr;  // the layer that runs next, or null
  Array output;                  // of the model
};
Ends ends_of(Module& model, const Input& in, const std::vector<Block>& blocks);

// Throws ConfigError unless these are logits (1, T, V) for so many tokens T.
void require_logits(const Array& logits, int64_t tokens, const std::string& probe);

// What is measured of logits (V): that of an answer or, with `wrong`, its difference to that of a
// wrong one. Both are columns of the logits.
struct Measure {
  int32_t answer = 0;
  std::optional<int32_t> wrong = {};

  double operator()(const real* logits) const {
    return static_cast<double>(logits[answer]) - (wrong ? static_cast<double>(logits[*wrong]) : 0);
  }
  // At the last position of logits (1, T, V), or of (1, V).
  double at_end(const Array& logits) const {
    return (*this)(logits.data() + logits.size() - logits.dim(-1));
  }
};

// An activation of one of the layers that a PartObserver watches.
struct Observation {
  const Module* part = nullptr;   // the watched layer
  const Module* layer = nullptr;  // that, or for heads and weights the layer inside that attends
  Activation what = Activation::output;
  int64_t first_head = 0;       // of `value`, counted within the part from 0
  const Array& value;           // as Activation says
  bool cross = false;           // `layer` reads a second sequence
  bool beside_context = false;  // it is inside of a layer that does, as all of a decoder

  std::tuple<const Module*, Activation, int64_t> key() const { return {part, what, first_head}; }
};

// Watches layers: their outputs, or the heads or weights of an attention. If layers inside of an
// attention offer their heads one by one (multi_head_attention_wrapper), these are counted on.
class PartObserver : public ForwardObserver {
 public:
  struct Watched {
    const Module* part;
    Activation what;
  };
  // Returns a replacement for the activation, or no array.
  using Visitor = std::function<Array(const Observation&)>;

  PartObserver(std::vector<Watched> watched, Visitor visitor)
      : watched_(std::move(watched)), visitor_(std::move(visitor)) {}

  void before_forward(const Module& layer, const Input& in) override;
  void after_forward(const Module& layer, const Input& in, const Tensor& out) override;
  bool wants(const Module& layer, Activation what) const override;
  Array visit(const Module& layer, Activation what, const Array& value) override;

 private:
  struct Running {
    const Module* layer;
    bool cross, beside_context;
  };
  // The watched part to which an activation of the innermost running layer belongs, or null.
  const Module* part_of(const Module& layer, Activation what) const;

  const std::vector<Watched> watched_;
  const Visitor visitor_;
  std::vector<Running> running_;
  std::map<Activation, int64_t> next_head_;  // of the part that is running
};

// The outputs of blocks, of their attention and their feed-forward, and the heads of the attention.
std::vector<PartObserver::Watched> watched_in(const std::vector<Block>& blocks);
// Activations of one forward pass, by Observation::key().
using Activations = std::map<std::tuple<const Module*, Activation, int64_t>, Array>;
Activations activations_of(Module& model, const Input& in,
                           const std::vector<PartObserver::Watched>& watched);

// How many heads each of these offers in a forward pass of `in`. `probe`, which begins the message,
// needs them: throws ConfigError if none offers any. Blocks may differ in their attention.
std::map<const Module*, int64_t> count_heads(Module& model, const Input& in,
                                             const std::vector<const Module*>& attention,
                                             const std::string& probe);

}  // namespace heed::probe
