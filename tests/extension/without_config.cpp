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

struct Digits {
  Ids ids = Ids::zeros({16, 8}), targets = Ids::zeros({16, 8});
};

// The task: to say at each place the largest digit so far.
Digits draw(Generator& generator) {
  Digits batch;
  for (int64_t i = 0; i < batch.ids.size(); ++i) {
    const auto digit = static_cast<int32_t>(generator.random32() % 10);
    const int32_t before = i % 8 == 0 ? 0 : batch.targets.data()[i - 1];
    batch.ids.mutable_data()[i] = digit;
    batch.targets.mutable_data()[i] = std::max(digit, before);
  }
  return batch;
}

// The loss of a batch that is not trained on: without dropout, and without a graph for a backward.
double evaluate(Model& model, const Digits& batch) {
  const NoGrad off;
  model.train(false);
  const double loss = cross_entropy(model(batch.ids), batch.targets).item();
  model.train(true);
  return loss;
}

int main() {
  manual_seed(123);
  Model model;
  AdamW::Config adamw;
  adamw.lr = 3e-3;
  AdamW optimizer(adamw, model.parameters());
  Generator data(1), other_data(2);
  const Digits held_out = draw(other_data);
  for (int step = 1; step <= 200; ++step) {
    const Digits batch = draw(data);
    optimizer.zero_grad();
    cross_entropy(model(batch.ids), batch.targets).backward();
    optimizer.step();
    if (step % 50 == 0) std::printf("step %d loss %.4f\n", step, evaluate(model, held_out));
  }

  save_parameters("model.safetensors", model);
  save_optimizer("optimizer.safetensors", optimizer);
  // To go on later: the weights, and what AdamW keeps of earlier gradients.
  Model again;
  AdamW its_optimizer(adamw, again.parameters());
  load_parameters(again, "model.safetensors");
  load_optimizer(its_optimizer, "optimizer.safetensors");
  const double loss = evaluate(again, held_out);
  return loss < 0.5 && loss == evaluate(model, held_out) && its_optimizer.steps() == 200 ? 0 : 1;
}
