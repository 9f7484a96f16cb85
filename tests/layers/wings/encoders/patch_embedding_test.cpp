#include "layers/wings/encoders/patch_embedding.h"

#include "tests/support/layer_cases.h"
#include "train/wings/examine/testing.h"

using namespace heed;
using namespace heed::testing;

namespace {

std::string patches(const std::string& options = "") {
  return text("{type: patch_embedding, image_width: 6, patch_size: 2, d_model: 5", options, "}");
}

}  // namespace

TEST_CASE("patch_embedding: names, shapes and first numbers are those of torch.nn.Conv2d") {
  CHECK(parameter_lines(*layer_of(patches(", channels: 3"))) == "weight (5, 3, 2, 2)\nbias (5,)\n");
  CHECK(parameter_lines(*layer_of(patches(", bias: false, class_token: true"))) ==
        "weight (5, 1, 2, 2)\nclass_token (5,)\n");
  // torch.manual_seed(123); net = torch.nn.Conv2d(3, 5, 2, stride=2)
  const auto layer = layer_of(patches(", channels: 3"), 123);
  const Array weight = parameter_of(*layer, "weight"), bias = parameter_of(*layer, "bias");
  CHECK(weight.data()[0] == doctest::Approx(-0.117714822).epsilon(1e-6));
  CHECK(weight.data()[59] == doctest::Approx(-0.233848065).epsilon(1e-6));
  CHECK(bias.data()[4] == doctest::Approx(-0.114969373).epsilon(1e-6));
}

TEST_CASE("patch_embedding: values and gradients are PyTorch's") {
  CHECK(check_golden("patch_embedding") == 2 * 4);
  CHECK(check_golden("patch_embedding_colours") == 2 * 3);
  CHECK(check_golden("patch_embedding_class_token") == 2 * 5);
}

TEST_CASE("patch_embedding: all that a layer must satisfy") {
  for (const char* options : {"", ", class_token: true", ", bias: false"}) {
    check_layer(patches(options), {{2, 1, 4, 6}, {1, 8, 6}});
  }
  check_layer(patches(", channels: 3"), {{2, 3, 4, 6}, {3, 2, 6}});
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

TEST_CASE("patch_embedding: refusals") {
  const auto layer = layer_of(patches(", channels: 3"));
  const auto given = [&](const Shape& shape) {
    return error_of([&] { (*layer)(Tensor(Array::zeros(shape))); });
  };
  const std::string expected =
      "patch_embedding: expected x (B, channels 3, H, image_width 6) with H a multiple of "
      "patch_size 2, got ";
  for (const Shape& shape : {Shape{2, 4, 6}, Shape{2, 3, 4, 8}, Shape{2, 3, 5, 6}, Shape{3, 0, 6},
                             Shape{4, 6}, Shape{1, 2, 3, 4, 6}}) {
    CHECK(given(shape) == text(expected, shape));
  }
  CHECK(given({3, 4, 6}) == "no error");
  CHECK(config_error_of("{type: patch_embedding, image_width: 6, patch_size: 4, d_model: 5}")
            .find("model.patch_size: must divide image_width 6, got 4") != std::string::npos);
}
