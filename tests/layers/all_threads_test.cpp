// Values and gradients, with dropout, have the same bits for any number of threads: for every
// attention layer and for blocks and models around it.
#include "autograd/random/streams.h"
#include "autograd/threads/parallel.h"
#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("threads: 1, 2 and 3 give the same bits, forward and backward, with dropout") {
  const int before = num_threads();
  int64_t compared = 0;
  for (const LayerCase& c : attending_layers({.times = 4, .context_length = 140, .dropout = 0.2})) {
    CAPTURE(c.name);
    const auto layer = layer_of(c.yaml);
    perturb_parameters(*layer);
    Input in = input_for(*layer, {3, 140}, 4);
    in.mask = Mask::full({3, 140}, 1);
    std::fill_n(in.mask.mutable_data() + 130, 20, uint8_t{0});
    set_num_threads(1);
    const Results alone = run(*layer, in);
    for (const int threads : {2, 3}) {
      CAPTURE(threads);
      set_num_threads(threads);
      compared += check_same_bits(run(*layer, in), alone);
    }
  }
  set_num_threads(before);
  CHECK(compared > 500);
}

TEST_CASE("threads: the same composed, and with the other dropout stream") {
  const int before = num_threads();
  int64_t compared = 0;
  for (const LayerCase& c : attending_layers({.times = 4, .context_length = 70, .dropout = 0.2})) {
    if (c.name != "gpt multi_head_attention" && !c.attends_itself) continue;
    CAPTURE(c.name);
    for (const DropoutStream stream : {DropoutStream::mcg31, DropoutStream::mt19937}) {
      const auto layer = layer_of(c.yaml);
      manual_seed(123, Generators::separate, stream);
      const Input in = input_for(*layer, {3, 70}, 4);
      const Composed form(stream == DropoutStream::mcg31);
      set_num_threads(1);
      const Results alone = run(*layer, in);
      set_num_threads(3);
      compared += check_same_bits(run(*layer, in), alone);
    }
  }
  set_num_threads(before);
  manual_seed(123);
  CHECK(compared > 100);
}
