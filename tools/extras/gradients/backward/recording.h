// One forward and one backward pass of a model: activations, each with its gradient.
//
//   forward    a PartObserver sees each activation as a tensor, with the node that will get its
//              gradient
//   backward   a GraphObserver sees each node before it runs, when its gradient is complete
#pragma once

#include <functional>
#include <list>
#include <map>

#include "tools/extras/report/parts.h"

namespace heed::gradients {

// An activation and d m / d activation, of one shape. m is the number that the cotangent is that
// of. The gradient is 0 where m does not depend on the activation.
struct Recorded {
  Array value, gradient;

  // The sum of value times gradient over all elements or, of an array (..., d), those of row t.
  double product() const;
  double product_at(int64_t t) const;
};

// Tokens as vectors: what a layer that looks them up gives.
struct Embedded {
  const Module* layer = nullptr;
  Ids ids;           // (1, T)
  Recorded vectors;  // (1, T, d)
};

struct Recording {
  Array output;                    // of the model
  std::list<Embedded> embeddings;  // in their order: of an encoder-decoder that of the source first
  std::map<probe::Activations::key_type, Recorded> parts;
  std::map<const Module*, Recorded> inputs;  // of the layers in `entered`: x

  const Recorded& output_of(const Module* part) const {
    return parts.at({part, Activation::output, 0});
  }
  // The product of each head of an attention, z (1, T, H, d) in one piece or several; none if it
  // offers no heads.
  std::vector<double> products_of_heads(const Module* attention) const;
};

// d m / d output, of the output's shape.
using Cotangent = std::function<Array(const Array& output)>;

// Runs a model that is in evaluation mode on a batch of one, and back. Records the parts that are
// watched, what the layers `entered` are given, and all embeddings of tokens. Parameters keep their
// gradients of this pass alone. Throws ConfigError, which `probe` begins, for a model that reads no
// tokens, or whose embedding of tokens is frozen.
Recording record(Module& model, const Input& in,
                 const std::vector<probe::PartObserver::Watched>& watched,
                 const std::vector<const Module*>& entered, const Cotangent& cotangent,
                 const std::string& probe);

void zero_gradients(const Module& model);
// The Euclidean norm of all elements, or of those of the difference to `less`.
double euclidean_norm(std::span<const real> values, std::span<const real> less = {});

}  // namespace heed::gradients
