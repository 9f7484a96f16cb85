#include "train/extras/sequence_models/layers/patch_embedding.h"

#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

std::string patches(const std::string& options = "") {
  return text("{type: patch_embedding, image_width: 6, patch_size: 2, d_model: 5", options, "}");
}

}  // namespace

TEST_CASE("patch_embedding: first numbers are those of torch.nn.Conv2d") {
  // torch.manual_seed(123); net = torch.nn.Conv2d(3, 5, 2, stride=2)
  const auto layer = layer_of(patches(", channels: 3"), 123);
  const Array weight = parameter_of(*layer, "weight"), bias = parameter_of(*layer, "bias");
  CHECK(weight.data()[0] == doctest::Approx(-0.117714822).epsilon(1e-6));
  CHECK(weight.data()[59] == doctest::Approx(-0.233848065).epsilon(1e-6));
  CHECK(bias.data()[4] == doctest::Approx(-0.114969373).epsilon(1e-6));
}

TEST_CASE("patch_embedding: by hand, from left to right and from top to bottom") {
  PatchEmbedding layer({.image_width = 4, .patch_size = 2, .d_model = 1});
  {
    const NoGrad off;
    const std::array<real, 4> weights{1, 10, 100, 1000};
    std::copy(weights.begin(), weights.end(), layer.weight.tensor().mutable_value());
    *layer.bias.tensor().mutable_value() = 0.5;
  }
  const Tensor x = Array::from({1, 4, 4}, {1, 2, 3, 4,  //
                                           5, 6, 7, 8,  //
                                           9, 0, 1, 2,  //
                                           3, 4, 5, 6});
  check_values(layer(x), {4, 1}, {6521.5, 8743.5, 4309.5, 6521.5});
}
