#include "layers/extras/alternatives/mixture_of_experts.h"

#include "autograd/array/storage.h"
#include "autograd/kernels/gemm.h"
#include "autograd/ops/concat.h"
#include "autograd/ops/slice.h"
#include "layers/module/added_losses.h"
#include "layers/module/evaluation_mode.h"
#include "tests/support/compare_runs.h"
#include "tests/support/layer_cases.h"
#include "tests/support/training_run.h"
#include "train/trainer.h"

using namespace heed;
using namespace heed::testing;

namespace {

// Three experts whose probabilities are softmax(x), and which answer e + 1 whatever x is.
std::unique_ptr<MixtureOfExperts> three_experts(int64_t top_k, double load_balancing = 0.01) {
  MixtureOfExperts::Config config;
  config.d_model = 3;
  config.num_experts = 3;
  config.top_k = top_k;
  config.load_balancing = load_balancing;
  auto layer = std::make_unique<MixtureOfExperts>(config);
  set_parameter(*layer, "router.weight", Array::from({3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1}));
  for (int e = 0; e < 3; ++e) {
    const std::string of_expert = text("experts.", e, ".layers.2.");
    set_parameter(*layer, of_expert + "weight", Array::zeros({3, 12}));
    set_parameter(*layer, of_expert + "bias", Array::full({3}, static_cast<real>(e + 1)));
  }
  return layer;
}

Tensor three_scores() {
  return Tensor::parameter(Array::from({4, 3}, {2, 1, 0, 1, 3, 2, 0, 1, 4, 3, real(0.5), 1}));
}

// What the layer adds to the loss of the task.
Tensor balance(Module& layer, const Input& in) {
  const AddedLosses added;
  (void)layer(in);
  return added.by_name.at("load_balancing");
}

const char* const experts_in_gpt =
    "model.feed_forward={type: mixture_of_experts, num_experts: 4, load_balancing: 0.05}";

}  // namespace

TEST_CASE("mixture_of_experts: each token goes to its likeliest experts") {
  const NoGrad off;
  const auto share = [](double a, double b) {
    return static_cast<real>(1 / (1 + std::exp(b - a)));
  };
  const real first = 1 + (1 - share(2, 1)), second = 2 + share(2, 3), third = 3 - share(1, 4),
             fourth = 1 + 2 * share(1, 3);
  check_values(
      (*three_experts(2))(three_scores()), {4, 3},
      {first, first, first, second, second, second, third, third, third, fourth, fourth, fourth});
  // Of equal ones the first. A single one counts by its probability among all.
  check_values((*three_experts(2))(Tensor(Array::zeros({1, 3}))), {1, 3}, {1.5, 1.5, 1.5});
  const real likely = static_cast<real>(std::exp(2.0) / (std::exp(2.0) + std::exp(1.0) + 1));
  check_values((*three_experts(1))(slice(three_scores(), 0, 0, 1)), {1, 3},
               {likely, likely, likely});
  CHECK((*three_experts(2))(Tensor(Array::zeros({2, 0, 3}))).shape() == Shape{2, 0, 3});
}

TEST_CASE("mixture_of_experts: costs as much as top_k feed-forwards, and the router") {
  const NoGrad off;
  const auto flops = [](const std::string& yaml) {
    const auto layer = layer_of(yaml);
    const Tensor x = values({50, 16});
    const int64_t before = flop_count();
    (void)(*layer)(x);
    return flop_count() - before;
  };
  const int64_t one = flops("{type: feed_forward, d_model: 16}");
  CHECK(flops("{type: mixture_of_experts, d_model: 16, num_experts: 8}") ==
        2 * one + 2 * 50 * 16 * 8);
  CHECK(flops("{type: mixture_of_experts, d_model: 16, num_experts: 32, top_k: 3}") ==
        3 * one + 2 * 50 * 16 * 32);
  // A dry run has no numbers to choose by, and the same cost.
  const auto layer = layer_of("{type: mixture_of_experts, d_model: 16, num_experts: 7, top_k: 3}");
  const DryRun dry;
  const int64_t before = flop_count();
  CHECK((*layer)(Tensor(Array::uninitialised({5, 10, 16}))).shape() == Shape{5, 10, 16});
  CHECK(flop_count() - before == 3 * one + 2 * 50 * 16 * 7);
}

TEST_CASE("mixture_of_experts: load_balancing is that of transformers") {
  // 0.5 E sum_e f_e P_e of these scores by PyTorch in float64. load_balancing_loss_func of
  // transformers 5.24 has the same gradients, and the loss within 2e-8: its sum is in float32.
  Tensor x = three_scores();
  Tensor loss = balance(*three_experts(2, 0.5), x);
  check_values(loss, {}, {real(0.9755785899416392)});
  loss.backward();
  check_near(x.grad(), Array::from({4, 3}, {real(-0.02087769623762), real(0.01526281893654),
                                            real(0.005614877301077), real(-0.007680475224843),
                                            real(0.005614877301077), real(0.002065597923766),
                                            real(-0.001580041652304), real(0.00007493485501747),
                                            real(0.001505106797287), real(-0.01375277270686),
                                            real(0.005192231005575), real(0.008560541701281)}));
  check_values(balance(*three_experts(1, 0.5), three_scores()), {}, {real(0.5244214100583607)});
  // Padding does not count: the last two tokens of the second sequence.
  const auto layer = three_experts(2);
  const Tensor pair = reshape(concat({three_scores(), three_scores()}, 0), {2, 4, 3});
  const Mask kept = Mask::from({2, 4}, {1, 1, 1, 1, 1, 1, 0, 0});
  const Tensor rows = reshape(pair, {8, 3});
  const Array six = balance(*layer, slice(rows, 0, 0, 6)).value();
  check_near(balance(*layer, {pair, kept}).value(), six);
  CHECK(balance(*layer, pair).item() != six.data()[0]);
}

TEST_CASE("mixture_of_experts: adds a loss in training only, and none with 0") {
  const auto layer = three_experts(2), without = three_experts(2, 0);
  const AddedLosses added;
  (void)(*without)(three_scores());
  {
    const EvaluationMode evaluating(*layer);
    (void)(*layer)(three_scores());
  }
  CHECK(added.by_name.empty());
  (void)(*layer)(three_scores());
  (void)(*layer)(three_scores());  // as a second layer of a model
  CHECK(added.by_name.size() == 1);
  CHECK(added.by_name.at("load_balancing").item() ==
        doctest::Approx(4 * 0.01 * 0.9755785899416392));
}

TEST_CASE("mixture_of_experts: init gpt2 scales the last matrix of each expert") {
  const auto model = layer_of(
      "{type: gpt, vocab_size: 7, context_length: 8, d_model: 32, num_heads: 2, num_layers: 8, "
      "init: gpt2, feed_forward: {type: mixture_of_experts, num_experts: 2}}");
  const auto deviation = [&](const std::string& name) {
    const Array w = parameter_of(*model, "trf_blocks.3.ff." + name);
    double squares = 0;
    for (const real v : w.span()) squares += static_cast<double>(v) * v;
    return std::sqrt(squares / static_cast<double>(w.size()));
  };
  CHECK(deviation("experts.1.layers.0.weight") == doctest::Approx(0.02).epsilon(0.1));
  CHECK(deviation("experts.1.layers.2.weight") == doctest::Approx(0.005).epsilon(0.1));
}

TEST_CASE("mixture_of_experts: trains, and a resumed run has the bits of a whole one") {
  const TempDir folder;
  const std::vector<std::string> sets{experts_in_gpt, "checkpoint.every=6", "eval.every=6",
                                      "train.accumulate=2"};
  Trainer(load_small(folder, sets), RunFolder::create(folder / "whole", "")).train();
  copy_ended_after(6, folder / "whole", folder / "part");
  Trainer(load_small(folder, sets), RunFolder::open(folder / "part"),
          checkpoint_of(folder / "part", 6))
      .train();
  CHECK(compare_checkpoints(folder / "whole", folder / "part", 12) == 5);
  const std::vector<MetricsRow> rows = read_metrics(folder / "whole/metrics.csv"),
                                again = read_metrics(folder / "part/metrics.csv");
  REQUIRE(rows.size() == again.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    CHECK(rows[i].added == again[i].added);
    // 0.05 k = 0.1 where all experts get alike; a single layer.
    const bool logged = rows[i].loss.has_value();
    CHECK(rows[i].added.size() == (logged ? 1 : 0));
    if (logged) CHECK(rows[i].added.at("load_balancing") == doctest::Approx(0.1).epsilon(0.5));
  }
  CHECK(read_text(folder / "whole/metrics.csv")
            .starts_with("step,loss,val_loss,lr,grad_norm,tokens,seconds,bits_per_byte,"
                         "load_balancing\n"));
}

TEST_CASE("mixture_of_experts: descent on load_balancing spreads tokens over the experts") {
  const auto layer = three_experts(1, 1);
  set_parameter(*layer, "router.weight", Array::from({3, 3}, {2, 2, 2, 0, 1, 0, 0, 0, 1}));
  const Tensor x = values({60, 3}, 0, 1);
  CHECK(balance(*layer, x).item() > 2);  // 3 if all go to one expert, 1 if all get alike
  for (int step = 0; step < 100; ++step) {
    balance(*layer, x).backward();
    const NoGrad off;
    Tensor weight = layer->router->weight;
    real* const w = weight.mutable_value();
    for (int i = 0; i < 9; ++i) w[i] -= weight.grad().data()[i];
    weight.zero_grad();
  }
  CHECK(balance(*layer, x).item() < 1.1);
}
