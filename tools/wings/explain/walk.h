// A forward pass as the steps of a page, in the order of the model's own code.
#pragma once

#include <string>

#include "layers/decoder_block.h"
#include "layers/embedding.h"
#include "layers/gated_feed_forward.h"
#include "layers/positional.h"
#include "tools/wings/explain/page_data.h"
#include "tools/wings/explain/recorder.h"

namespace heed::explain {

// Adds steps to a page. Each function adds those of one layer and returns the id of the last one,
// whose value is the layer's output. Ids are paths: "trf_blocks.0.att.W_query".
//
// Values are those that the layers gave, as a Recorder has them. Two do not exist in a run of the
// model, since they stay inside of fused operations: attention scores, and the hidden layer of a
// feed-forward. They are computed from the recorded values, by the engine's operations.
class Walk {
 public:
  Walk(const Recorder& recorder, PageData& page) : recorder_(recorder), page_(page) {}

  // ids (T) -> (T, d); `rows` names the tokens on the page.
  std::string embedding(const Embedding& layer, const Ids& ids, const std::string& rows);
  // x and the vectors of its positions, and their sum.
  std::string positions(Positional& layer, const std::string& x);
  std::string norm(const Module& layer, const std::string& x, const std::string& title);
  std::string linear(const Linear& layer, const std::string& x, const std::string& title);
  // The blocks add their steps to a section of their own.
  std::string block(const TransformerBlock& block, const std::string& x);
  // context: the id of the encoder's last step.
  std::string block(const DecoderBlock& block, const std::string& x, const std::string& context);
  // pool: "mean" over the tokens of x or "first" of them; value (1, d).
  std::string pooled(const std::string& id, const std::string& x, const std::string& pool,
                     const Array& value);

 private:
  // Self-attention, or, if there is one, attention to a context.
  std::string attention(const Module& layer, const std::string& x, const std::string& context = "");
  std::string feed_forward(const Module& layer, const std::string& x);
  std::string feed_forward(const FeedForward& layer, const std::string& x);
  std::string feed_forward(const GatedFeedForward& layer, const std::string& x);
  std::string activation(const std::string& id, const std::string& of, const std::string& function,
                         const Array& value);
  std::string sum(const std::string& id, const std::string& title, const std::string& a,
                  const std::string& b);
  // A step of a Linear, or of rows of a matrix that works like one.
  std::string product(const std::string& id, const std::string& title, const std::string& x,
                      const Array& weight, const Array& bias, const Array& value);
  // Steps after that belong to this part of a block.
  void part(const std::string& title) { part_ = title; }
  std::string add(Step step, const Array& value = {});

  const Recorder& recorder_;
  PageData& page_;
  std::map<std::string, std::string> rows_;  // of a step: what its rows are
  std::string part_;

  friend class AttentionWalk;
};

}  // namespace heed::explain
