// A forward pass as the steps of a page, in the order in which they ran.
#pragma once

#include <map>
#include <string>

#include "layers/config/choice.h"
#include "tools/extras/explain/page_data.h"
#include "tools/extras/explain/recorder.h"

namespace heed::explain {

// Adds steps to a page. Each function adds those of one layer and returns the id of the last one,
// whose value is the layer's output. Ids are paths: "trf_blocks.0.att.W_query".
//
// Values are those that the layers gave, as a Recorder has them. Two do not exist in a run of the
// model, since they stay inside of fused operations: attention scores, and the hidden layer of a
// feed-forward. They are computed from the recorded values, by the engine's operations.
class Walk {
 public:
  // `in` is what the model has read. classes: it gave one row for the whole sequence.
  Walk(const Recorder& recorder, const Input& in, bool classes, PageData& page)
      : recorder_(recorder), in_(in), classes_(classes), page_(page) {}

  // The layers of a model, each of which reads what the one before it gave, or reads ids. Between
  // two of them the model may pool the tokens, by a field `pool` or, of the context, `context`.
  // Throws ConfigError for a model that does anything else. Returns the numbers of the sections of
  // the embeddings and of each block of what is written.
  std::vector<size_t> model(const Module& model);

 private:
  // A layer of the model itself.
  std::string step(const Module& layer, const std::string& x);
  std::string begin_sequence(const Module& layer);
  // The patches of a picture as rows of pixels, and the vectors that they become.
  std::string begin_picture(const Module& layer);
  // Blocks add their steps to a section of their own.
  std::string block(const Module& block, const std::string& x);
  // What the model has pooled by this field.
  std::string pooled(const Module& model, const char* field, const std::string& id,
                     const std::string& x, const Array& value);

  // Any layer; context: the id of what it reads besides x.
  std::string layer(const Module& layer, const std::string& x, const std::string& title,
                    const std::string& context = "");
  std::string positions(const Module& layer, const LayerChoice& choice, const std::string& x);
  std::string norm(const Module& layer, const LayerChoice& choice, const std::string& x,
                   const std::string& title);
  std::string linear(const Module& layer, const std::string& x, const std::string& title);
  std::string feed_forward(const Module& layer, const LayerChoice& choice, const std::string& x);
  std::string gated(const Module& layer, const std::string& x);
  std::string activation(const std::string& id, const std::string& of, const std::string& function,
                         const Array& hidden);
  std::string sum(const std::string& id, const std::string& title, const std::string& a,
                  const std::string& b);
  // A step of a Linear, or of rows of a matrix that works like one.
  std::string product(const std::string& id, const std::string& title, const std::string& x,
                      const Tensor& weight, const Tensor& bias, const Array& value);
  std::string add(Step step, const Array& value = {});

  const Recorder& recorder_;
  const Input& in_;
  const bool classes_;
  PageData& page_;
  std::map<std::string, std::string> rows_;  // of a step: what its rows are
  std::string part_;                         // of a block: what steps after that belong to
  std::string context_;                      // the last step of the encoder
  std::vector<size_t> with_lens_;            // see model()
  bool has_blocks_ = false, in_source_ = false, in_end_ = false;

  friend struct AttentionWalk;
};

// A layer or a parameter right inside of a layer; null, or no tensor, if none has this name.
const Module* child_of(const Module& layer, const std::string& name);
Tensor parameter_of(const Module& layer, const std::string& name);
// The value of a field; `otherwise` for a layer that has none of this name and type.
template <class T>
T field_or(const LayerChoice& choice, const char* field, T otherwise) {
  const T* const found = choice.find<T>(field);
  return found != nullptr ? *found : otherwise;
}

}  // namespace heed::explain
