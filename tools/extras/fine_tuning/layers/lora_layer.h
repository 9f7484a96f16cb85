// What LoRA adds to a Linear, a product of two narrow matrices, and the Linear with it. Hu et al.
// 2021, section 4.1; the book, appendix E. The numbers and the initialisation are those of `peft`.
//   y = alpha / rank * dropout(x) A^T B^T    x (..., d_in) -> y (..., d_out)
//   A (rank, d_in): as torch.nn.Linear's weight;  B (d_out, rank): zeros, so that y is 0 at first
#pragma once

#include "layers/dropout.h"
#include "layers/linear.h"

namespace heed {

class LoraLayer final : public Module {
 public:
  static constexpr const char* help = "alpha / rank * B A x, what LoRA adds to a Linear";

  // What is the same for all of a model.
  struct Size {
    int64_t rank = 8;
    double alpha = 16;
    double dropout = 0;
    void fields(Fields& f);
  };
  struct Config : Size {
    int64_t d_in = 0;
    int64_t d_out = 0;
    void fields(Fields& f);
  };

  explicit LoraLayer(const Config& c);

  Signature signature() const override { return Signature::of_tokens(config.d_in); }

  // alpha / rank * B A, (d_out, d_in): what is added to the Linear's weight.
  Array product() const;

  const Config config;
  Parameter A;  // (rank, d_in)
  Parameter B;  // (d_out, rank)

 protected:
  Tensor forward(const Input& in) override;

 private:
  real factor() const { return static_cast<real>(config.alpha / static_cast<double>(config.rank)); }
  Child<Dropout> dropout_;
};
HEED_LAYER(LoraLayer, "lora_layer");

// A Linear with what LoRA adds to it, in the place of one whose parameters it shares.
class LoraLinear final : public Linear {
 public:
  LoraLinear(const Linear& base, const LoraLayer::Size& size);

  Child<LoraLayer> lora;

 protected:
  Tensor forward(const Input& in) override;
};

}  // namespace heed
