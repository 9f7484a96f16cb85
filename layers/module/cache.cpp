#include "layers/module/cache.h"

#include "layers/module/module.h"

namespace heed {

std::any& Cache::enter(const Module& layer) {
  require<GraphError>(!NoGrad::recording(), "cache: expected NoGrad, got a graph");
  Entry& entry = layers_[&layer];
  require<Error>(entry.pass != pass_, "cache: ", layer.path(),
                 " updates its state twice in one forward pass; call advance() after each pass, ",
                 "and say Signature::cache only if every layer runs once");
  entry.pass = pass_;
  return entry.state;
}

void Cache::throw_other_type(const Module& layer) {
  throw Error(text("cache: ", layer.path(),
                   " asks for a state of another type than in the pass before; use one struct"));
}

}  // namespace heed
