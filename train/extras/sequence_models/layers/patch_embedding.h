// Cuts pictures into patches and makes a vector of each: the "words" of a Vision Transformer.
// Dosovitskiy et al. 2020, "An Image is Worth 16x16 Words", section 3.1.
//   x (B, channels, H, W) -> y (B, N, d_model);  (channels, H, W) -> (N, d_model)
//   y_n = sum_(c, i, j) weight[:, c, i, j] x[c, row_n + i, column_n + j] + bias
//   N = (H / P) (W / P) with P = patch_size: patches from left to right, then from top to bottom
// A convolution whose windows do not overlap is a linear map of each patch, written as a row of
// channels * P * P numbers. Parameters, their order and initial values are those of
// torch.nn.Conv2d(channels, d_model, kernel_size=P, stride=P). P must divide H and W.
//
// With class_token, a trained vector comes in front of the patches: y has N + 1 rows.
#pragma once

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/concat.h"
#include "autograd/ops/linear.h"
#include "autograd/ops/permute.h"
#include "autograd/ops/reshape.h"
#include "layers/module/init.h"
#include "layers/module/registry.h"

namespace heed {

class PatchEmbedding final : public Module {
 public:
  static constexpr const char* help = "patches of pictures as vectors, as torch.nn.Conv2d";

  struct Config {
    int64_t channels = 1;
    int64_t image_width = 0;
    int64_t patch_size = 0;
    int64_t d_model = 0;
    bool class_token = false;
    bool bias = true;
    void fields(Fields& f) {
      f.optional("channels", channels, at_least(1), "of the pictures: 1 for gray, 3 for colours")
          .also_try({2});
      f.required("image_width", image_width, at_least(1), "pixels in a row of a picture")
          .shows(false)
          .example(4);
      f.required("patch_size", patch_size, at_least(1), "pixels along the side of a patch")
          .example(2);
      f.required("d_model", d_model, at_least(1), "width of the vectors").example(3);
      f.optional("class_token", class_token, "a trained vector in front of the patches");
      f.optional("bias", bias, "add a vector to that of each patch").shows();
    }
    void check(ConfigErrors& errors, const ConfigNode& at) const {
      if (image_width % patch_size != 0) {
        errors.add_field(at, "patch_size", "must divide image_width ", image_width, ", got ",
                         patch_size);
      }
    }
  };

  explicit PatchEmbedding(const Config& c)
      : config(checked(c)),
        weight(this, "weight", {c.d_model, c.channels, c.patch_size, c.patch_size},
               init::linear_weight),
        bias(
            this, "bias", {c.d_model},
            [&c](Array& values) {
              init::linear_bias(values, c.channels * c.patch_size * c.patch_size);
            },
            c.bias),
        class_token(
            this, "class_token", {c.d_model}, [](Array& values) { init::normal(values, 0, 0.02); },
            c.class_token) {}

  Signature signature() const override {
    return {.width = config.image_width, .channels = config.channels, .unit = config.patch_size};
  }

  const Config config;
  Parameter weight;       // (d_model, channels, P, P)
  Parameter bias;         // (d_model), or empty
  Parameter class_token;  // (d_model), or empty

 protected:
  Tensor forward(const Input& in) override {
    const int64_t side = config.patch_size, channels = config.channels;
    const Shape& shape = in.x.shape();
    const bool single = shape.rank() == 3;
    require((single || shape.rank() == 4) && in.x.dim(-3) == channels &&
                in.x.dim(-1) == config.image_width && in.x.dim(-2) > 0 && in.x.dim(-2) % side == 0,
            "patch_embedding: expected x (B, channels ", channels, ", H, image_width ",
            config.image_width, ") with H a multiple of patch_size ", side, ", got ", shape);
    const int64_t batch = single ? 1 : shape[0], rows = in.x.dim(-2) / side,
                  columns = config.image_width / side, numbers = channels * side * side;
    const Tensor cut =
        permute(reshape(in.x, {batch, channels, rows, side, columns, side}), {0, 2, 4, 1, 3, 5});
    const Tensor patches = reshape(cut, {batch, rows * columns, numbers});
    Tensor y = linear(patches, reshape(weight, {config.d_model, numbers}), bias);
    if (class_token) {
      y = concat({class_token + Tensor(Array::zeros({batch, 1, config.d_model})), y}, 1);
    }
    return single ? reshape(y, {y.dim(1), y.dim(2)}) : y;
  }
};
HEED_LAYER(PatchEmbedding, "patch_embedding");

}  // namespace heed
