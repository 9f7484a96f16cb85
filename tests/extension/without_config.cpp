// A model out of layers, trained and saved, without a config: c++ with heedgrad alone.
#include <heed/heed.h>

#include <cstdio>

using namespace heed;

// ids (B, T) in [0, 10) -> logits (B, T, 10)
struct Model final : Module {
  Child<Embedding> tokens{this, "tokens", Embedding::Config{10, 32}};
  Child<TransformerBlock> block{
      this, "block", TransformerBlock::Config{.d_model = 32, .context_length = 8, .num_heads = 4}};
  Child<Linear> head{this, "head", Linear::Config{32, 10}};

  Tensor forward(const Input& in) override { return head(block(tokens(in))); }
};

int main() {
  manual_seed(123);
  Model model;
  AdamW::Config adamw;
  adamw.lr = 3e-3;
  AdamW optimizer(adamw, model.parameters());
  Generator data(1);
  double loss = 0;
  for (int step = 1; step <= 200; ++step) {  // to say at each place the largest digit so far
    Ids ids = Ids::zeros({16, 8}), targets = Ids::zeros({16, 8});
    for (int64_t i = 0; i < ids.size(); ++i) {
      ids.mutable_data()[i] = static_cast<int32_t>(data.random32() % 10);
      const int32_t before = i % 8 == 0 ? 0 : targets.data()[i - 1];
      targets.mutable_data()[i] = std::max(ids.data()[i], before);
    }
    const Tensor mean = cross_entropy(model(ids), targets);
    optimizer.zero_grad();
    mean.backward();
    optimizer.step();
    loss = mean.item();
    if (step % 50 == 0) std::printf("step %d loss %.4f\n", step, loss);
  }
  save_parameters("model.safetensors", model);
  return loss < 0.5 ? 0 : 1;
}
