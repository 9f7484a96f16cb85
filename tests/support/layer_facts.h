// Short facts of layers, from files facts.txt beside the tests of layers:
//   # a comment
//   $sizes = d_in: 4, d_out: 3                 stands for the text in the lines below
//   {type: linear, $sizes}                     the facts of a layer follow:
//     parameters: weight (3, 4) bias (3,)      all of them, in order
//     count: 15                                of parameters
//     drawn 123: 15                            from this seed as PyTorch's modules, so many numbers
//     documents linear: 12                     from seed 123, so many numbers of the documents
//     examined: (2, 6, 4) (6, 4)               passes all checks of layers, with these shapes too
//     x (2, 5): linear: expected ...           the error for such an input, or "fine"
//   {type: linear, d_in: 0, d_out: 3}
//     error: model.yaml:1:29: ...              the error for such a config, or "fine"
// An input may have ids (1, 2) 0 7, mask, context, source_ids and source_mask as well. Lines that
// are indented further go on; a fact that is given twice has two lines.
#pragma once

#include <string>
#include <vector>

#include "layers/module/module.h"

namespace heed::testing {

struct LayerFact {
  std::string place;  // "facts.txt:12"
  std::string layer;
  std::string word, argument;  // "x", "(2, 5)"
  std::string says;
};

// Those of all facts.txt of the layers in this build.
std::vector<LayerFact> layer_facts();

std::vector<Shape> shapes_in(const std::string& words);

// The input of a fact: numbers, ids and context as given or all alike, masks that hide nothing.
Input input_of(const LayerFact& fact);

}  // namespace heed::testing
