#include "train/optim/optimizer.h"

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/mean.h"
#include "tests/support/near.h"
#include "tests/support/run_program.h"
#include "train/files/safetensors.h"
#include "train/optim/adam.h"
#include "train/optim/sgd.h"

using namespace heed;
using namespace heed::testing;

namespace {

constexpr int golden_steps = 6;
const std::vector<std::string> golden_parameters = {"matrix", "vector", "number"};

// The same as in tools/reference/optimizer_golden.py.
struct GoldenCase {
  std::string name, type;
  ConfigNode options;
  double lr = 0;
  double grad_scale = 1;
};

std::vector<GoldenCase> golden_cases() {
  using Node = ConfigNode;
  return {
      {"sgd", "sgd", Node::map({{"decay", "all"}}), 0.1, 1},
      {"sgd_momentum", "sgd",
       Node::map({{"momentum", 0.9}, {"dampening", 0.3}, {"weight_decay", 0.05}, {"decay", "all"}}),
       0.1, 0.37},
      {"sgd_nesterov", "sgd",
       Node::map({{"momentum", 0.8}, {"nesterov", true}, {"weight_decay", 0.1}}), 0.1, 1},
      {"adam", "adam", Node::map({{"decay", "all"}}), 0.01, 1},
      {"adam_decay", "adam",
       Node::map({{"betas", Node::list({0.4, 0.95})}, {"eps", 1e-6}, {"weight_decay", 0.1}}), 0.02,
       1},
      {"adamw", "adamw", Node::map({{"decay", "all"}}), 0.01, 1},
      {"adamw_matrices", "adamw",
       Node::map({{"betas", Node::list({0.9, 0.99})}, {"weight_decay", 0.1}}), 0.03, 0.37},
  };
}

// The largest difference, in units in the last place of the expected number. Small numbers, which
// may result from cancellation, are measured against 1/100 of the largest one. Adds the count of
// numbers to `compared`.
double largest_difference(const Array& got, const Array& want, int64_t& compared) {
  REQUIRE(got.shape() == want.shape());
  const auto size = [&](int64_t i) { return std::abs(static_cast<double>(want.data()[i])); };
  double top = 0, largest = 0;
  for (int64_t i = 0; i < want.size(); ++i) {
    top = std::max(top, size(i));
  }
  for (int64_t i = 0; i < want.size(); ++i, ++compared) {
    const double unit = std::max(top / 100, size(i)) * (is_float64 ? 0x1p-52 : 0x1p-23);
    const double difference =
        static_cast<double>(got.data()[i]) - static_cast<double>(want.data()[i]);
    largest = std::max(largest, std::abs(difference) / unit);
  }
  return largest;
}

std::vector<NamedParameter> parameters_of(const SafeTensors& file) {
  std::vector<NamedParameter> parameters;
  for (const std::string& name : golden_parameters) {
    parameters.push_back({name, Tensor::parameter(file.array("start." + name))});
  }
  return parameters;
}

std::vector<NamedParameter> one_parameter(const Shape& shape, uint64_t seed = 1) {
  return {{"w", Tensor::parameter(values(shape, -1, 1, seed))}};
}

std::unique_ptr<Optimizer> made(const std::string& type, const ConfigNode& options,
                                const std::vector<NamedParameter>& parameters) {
  return optimizer_registry().make(type, options, parameters);
}

}  // namespace

TEST_CASE("optimizer: the steps of PyTorch") {
  const std::string precision = is_float64 ? "float64." : "float32.";
#ifdef __FMA__
  constexpr double most = 8;
#else
  constexpr double most = 24;  // a product and sum are rounded separately, unlike PyTorch's FMA
#endif
  int64_t compared = 0;
  for (const GoldenCase& golden : golden_cases()) {
    CAPTURE(golden.name);
    const SafeTensors file(std::string(HEED_SOURCE_DIR) + "/tests/golden/optimizers/" +
                           golden.name + ".safetensors");
    std::vector<NamedParameter> parameters = parameters_of(file);
    const std::unique_ptr<Optimizer> optimizer = made(golden.type, golden.options, parameters);
    double largest = 0;
    for (int step = 1; step <= golden_steps; ++step) {
      for (NamedParameter& p : parameters) {
        p.tensor.set_grad(file.array(text("gradient.", step, ".", p.name)));
      }
      optimizer->step(golden.lr / step, golden.grad_scale);
      for (const NamedParameter& p : parameters) {
        const Array want = file.array(text(precision, step, ".", p.name));
        largest = std::max(largest, largest_difference(p.tensor.value(), want, compared));
      }
    }
    for (const auto& [name, arrays] : optimizer->state()) {
      for (size_t k = 0; k < golden_parameters.size(); ++k) {
        const Array want = file.array(precision + name + "." + golden_parameters[k]);
        largest = std::max(largest, largest_difference((*arrays)[k], want, compared));
      }
    }
    CHECK(largest <= most);
    CHECK(optimizer->steps() == golden_steps);
  }
  CHECK(compared == 171 * (7 * golden_steps + 2 * 1 + 4 * 2));
}

TEST_CASE("optimizer: a step has the optimizer's own rate unless a schedule gives another") {
  for (const char* type : {"sgd", "adam", "adamw"}) {
    CAPTURE(type);
    CHECK(made(type, ConfigNode::map({}), {})->base_lr() == 1e-3);
    const auto weights_after = [&](auto&& step) {
      std::vector<NamedParameter> parameters = one_parameter({3, 5});
      const auto optimizer = made(type, ConfigNode::map({{"lr", 0.25}}), parameters);
      CHECK(optimizer->base_lr() == 0.25);
      parameters[0].tensor.set_grad(values({3, 5}, -1, 1, 2));
      step(*optimizer);
      return parameters[0].tensor.value();
    };
    const Array own = weights_after([](Optimizer& optimizer) { optimizer.step(); });
    check_same_bits(own, weights_after([](Optimizer& optimizer) { optimizer.step(0.25); }));
    const Array half = weights_after([](Optimizer& optimizer) { optimizer.step(0.125); });
    CHECK(half.data()[0] != own.data()[0]);
  }
}

TEST_CASE("optimizer: the same bits for any number of threads") {
  const int before = num_threads();
  for (const char* type : {"sgd", "adam", "adamw"}) {
    std::vector<Array> weights;
    for (const int threads : {1, 2, 5}) {
      set_num_threads(threads);
      std::vector<NamedParameter> parameters = one_parameter({257, 301});
      const auto optimizer = made(type, ConfigNode::map({}), parameters);
      for (int step = 1; step <= 3; ++step) {
        parameters[0].tensor.set_grad(values({257, 301}, -1, 1, 10 + static_cast<uint64_t>(step)));
        const double norm = grad_norm(parameters);
        optimizer->step(0.01, clip_factor(norm, 1));
      }
      weights.push_back(parameters[0].tensor.value().clone());
    }
    check_same_bits(weights[0], weights[1]);
    check_same_bits(weights[0], weights[2]);
  }
  set_num_threads(before);
}

TEST_CASE("optimizer: a parameter without a gradient stays as it is") {
  std::vector<NamedParameter> parameters = one_parameter({3, 4});
  parameters.push_back({"idle", Tensor::parameter(values({3, 4}, -1, 1, 5))});
  const Array idle = parameters[1].tensor.value().clone();
  const Array moving = parameters[0].tensor.value().clone();
  const auto optimizer = made("adamw", ConfigNode::map({}), parameters);
  parameters[0].tensor.set_grad(values({3, 4}));
  optimizer->step(0.1);
  check_same_bits(parameters[1].tensor.value(), idle);
  for (int64_t i = 0; i < moving.size(); ++i) {
    CHECK(parameters[0].tensor.value().data()[i] != moving.data()[i]);
  }
  optimizer->zero_grad();
  CHECK_FALSE(parameters[0].tensor.grad());
}

TEST_CASE("optimizer: decay leaves vectors alone unless told otherwise") {
  const Tensor matrix = wanted(values({2, 3})), vector = wanted(values({3}));
  CHECK(decays("matrices", matrix));
  CHECK_FALSE(decays("matrices", vector));
  CHECK(decays("all", vector));
  for (const char* decay : {"matrices", "all"}) {
    std::vector<NamedParameter> parameters = one_parameter({5});
    const Array before = parameters[0].tensor.value().clone();
    const auto optimizer =
        made("adamw", ConfigNode::map({{"weight_decay", 0.5}, {"decay", decay}}), parameters);
    parameters[0].tensor.set_grad(Array::zeros({5}));
    optimizer->step(0.1);
    const auto keep = static_cast<real>(std::string(decay) == "all" ? 1 - 0.1 * 0.5 : 1);
    for (int64_t i = 0; i < 5; ++i) {
      CHECK(parameters[0].tensor.value().data()[i] == before.data()[i] * keep);
    }
  }
}

TEST_CASE("optimizer: decay that does nothing, or takes weights beyond 0, is worth a warning") {
  const auto warning = [](const char* type, double lr, double decay, const char* rule) {
    const ConfigNode options =
        ConfigNode::map({{"lr", lr}, {"weight_decay", decay}, {"decay", rule}});
    return made(type, options, {})->warning();
  };
  for (const char* type : {"sgd", "adam", "adamw"}) {
    CAPTURE(type);
    CHECK(made(type, ConfigNode::map({}), {})->warning() == "");
    CHECK(warning(type, 0.1, 0, "matrices") == "");
    CHECK(warning(type, 0.1, 0, "all") ==
          "optimizer.decay is all, but optimizer.weight_decay is 0: nothing decays");
    CHECK(warning(type, 0.125, 7.5, "all") == "");
  }
  for (const char* type : {"sgd", "adamw"}) {
    CHECK(warning(type, 0.125, 8, "matrices") ==
          "optimizer.lr is 0.125, weight_decay 8: each step multiplies weights by 1 - lr "
          "weight_decay = 0, where weight decay is to make them a little smaller");
    CHECK(contains(warning(type, 0.125, 16, "all"), " = -1, "));
    std::vector<NamedParameter> parameters = one_parameter({2, 2});  // and so it is
    const Array before = parameters[0].tensor.value().clone();
    parameters[0].tensor.set_grad(Array::zeros({2, 2}));
    made(type, ConfigNode::map({{"lr", 0.125}, {"weight_decay", 16}}), parameters)->step();
    for (int64_t i = 0; i < 4; ++i) {
      CHECK(parameters[0].tensor.value().data()[i] == -before.data()[i]);
    }
  }
  CHECK(warning("adam", 0.125, 16, "all") == "");  // its steps are of the size of lr
}

TEST_CASE("optimizer: a value that was saved is known to be old after a step") {
  std::vector<NamedParameter> parameters = one_parameter({4});
  const Tensor loss = mean(parameters[0].tensor * parameters[0].tensor);
  const auto optimizer = made("sgd", ConfigNode::map({}), parameters);
  parameters[0].tensor.set_grad(values({4}));
  optimizer->step(0.1);
  CHECK_THROWS_AS(loss.backward(), GraphError);
}

TEST_CASE("optimizer: state is there from the beginning and can be put back") {
  std::vector<NamedParameter> a = one_parameter({6, 5}), b = one_parameter({6, 5});
  const ConfigNode options = ConfigNode::map({});
  const auto first = made("adamw", options, a);
  REQUIRE(first->state().size() == 2);
  CHECK(first->state()[0].first == "exp_avg");
  CHECK(first->state()[1].first == "exp_avg_sq");
  CHECK(made("sgd", options, a)->state().empty());
  CHECK(made("sgd", ConfigNode::map({{"momentum", 0.9}}), a)->state().size() == 1);

  const auto steps = [](Optimizer& optimizer, std::vector<NamedParameter>& parameters, int from,
                        int to) {
    for (int s = from; s < to; ++s) {
      parameters[0].tensor.set_grad(values({6, 5}, -1, 1, static_cast<uint64_t>(s)));
      optimizer.step(0.01);
    }
  };
  steps(*first, a, 0, 3);
  const auto second = made("adamw", options, b);
  std::copy_n(a[0].tensor.value().data(), 30, [&] {
    const NoGrad off;
    return b[0].tensor.mutable_value();
  }());
  for (size_t s = 0; s < 2; ++s) {
    const Array from = (*first->state()[s].second)[0];
    std::copy_n(from.data(), 30, (*second->state()[s].second)[0].mutable_data());
  }
  second->set_steps(first->steps());
  steps(*first, a, 3, 6);
  steps(*second, b, 3, 6);
  check_same_bits(a[0].tensor.value(), b[0].tensor.value());
}

TEST_CASE("optimizer: a dry run counts the state") {
  const DryRun dry;
  const std::vector<NamedParameter> parameters = {
      {"w", Tensor::parameter(Array::uninitialised({1000, 1024}))}};
  const int64_t before = pool::stats().live_bytes;
  const auto optimizer = made("adamw", ConfigNode::map({}), parameters);
  CHECK(pool::stats().live_bytes - before >= 2 * 1024000 * static_cast<int64_t>(sizeof(real)));
}

TEST_CASE("grad_norm: of all gradients together") {
  std::vector<NamedParameter> parameters = one_parameter({3, 4});
  parameters.push_back({"b", Tensor::parameter(values({40001}))});
  parameters.push_back({"none", Tensor::parameter(values({7}))});
  CHECK(grad_norm(parameters) == 0);
  parameters[0].tensor.set_grad(Array::full({3, 4}, 2));
  parameters[1].tensor.set_grad(Array::full({40001}, -1));
  CHECK(grad_norm(parameters) == doctest::Approx(std::sqrt(48.0 + 40001.0)).epsilon(1e-14));
  Array bad = Array::full({3, 4}, 2);
  bad.mutable_data()[5] = std::numeric_limits<real>::quiet_NaN();
  parameters[0].tensor.set_grad(bad);
  CHECK(std::isnan(grad_norm(parameters)));

  CHECK(clip_factor(0.5, 1) == 1);
  CHECK(clip_factor(0, 1) == 1);
  CHECK(clip_factor(4, 1) == 1 / (4 + 1e-6));
}
