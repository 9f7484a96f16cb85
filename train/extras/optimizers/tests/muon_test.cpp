#include "train/extras/optimizers/muon.h"

#include "autograd/kernels/gemm.h"
#include "tests/support/near.h"
#include "tests/support/run_program.h"
#include "tests/support/training_run.h"
#include "train/config/run_hooks.h"
#include "train/step.h"

using namespace heed;
using namespace heed::testing;

namespace {

const std::vector<double> usual_coefficients = Muon::Config().ns_coefficients;

Array orthogonalised(const Array& u) {
  return newton_schulz(u.clone(), usual_coefficients, 5, 1e-7);
}

Array transposed(const Array& a) {
  Array t = Array::uninitialised({a.dim(1), a.dim(0)});
  for (int64_t i = 0; i < a.size(); ++i) {
    t.mutable_data()[i % a.dim(1) * a.dim(0) + i / a.dim(1)] = a.data()[i];
  }
  return t;
}

std::unique_ptr<Optimizer> optimizer_of(const LoadedRun& run, const Module& model) {
  return optimizer_registry().make(run.config.optimizer, trained_parameters(model));
}

}  // namespace

// Singular values s of X become those of its rows' products: for all vectors v, |X^T v| is s |v|
// within [0.68, 1.14] once the iteration has brought them there; it never brings them to 1.
TEST_CASE("muon: the iteration keeps directions and evens out lengths") {
  for (const int64_t rows : {6, 40}) {
    CAPTURE(rows);
    const int64_t columns = 46 - rows;
    const Array u = values({rows, columns}, -1, 1, 7), x = orthogonalised(u);
    REQUIRE(x.shape() == u.shape());
    const Array wide = rows < columns ? x : transposed(x);
    Array gram = Array::uninitialised({6, 6});
    multiply(as_matrix(wide), as_matrix(wide).transposed(), into(as_writable_matrix(gram)));
    double trace = 0;
    for (int64_t i = 0; i < 6; ++i) {
      const double diagonal = gram.data()[i * 7];  // a mean of squared singular values
      CHECK(diagonal > 0.45);
      CHECK(diagonal < 1.3);
      trace += diagonal;
      for (int64_t j = 0; j < i; ++j) CHECK(std::abs(gram.data()[i * 6 + j]) < 0.35);
    }
    CHECK(trace > 6 * 0.6);
  }
}

TEST_CASE("muon: a matrix and its transpose have the same iteration") {
  for (const int64_t n : odd_sizes) {
    const Array u = values({n, 9}, -1, 1, 3);
    CHECK(check_near(orthogonalised(u), transposed(orthogonalised(transposed(u))), 20 * rounding) ==
          9 * n);
  }
}

TEST_CASE("muon: a gradient of zeros moves nothing but what decays") {
  const Array zeros = orthogonalised(Array::zeros({3, 5}));
  for (int64_t i = 0; i < 15; ++i) CHECK(zeros.data()[i] == 0);
}

TEST_CASE("muon: the same bits for any number of threads") {
  const int before = num_threads();
  std::vector<Array> found;
  for (const int threads : {1, 2, 5}) {
    set_num_threads(threads);
    std::vector<NamedParameter> parameters = {
        {"blocks.w", Tensor::parameter(values({130, 257}, -1, 1, 1))},
        {"head.w", Tensor::parameter(values({257, 31}, -1, 1, 2))}};
    const auto optimizer = optimizer_registry().make("muon", ConfigNode::map({}), parameters);
    for (uint64_t step = 1; step <= 3; ++step) {
      for (NamedParameter& each : parameters) {
        each.tensor.set_grad(values(each.tensor.shape(), -1, 1, 10 + step));
      }
      optimizer->step(0.02, 0.5);
    }
    for (const NamedParameter& each : parameters) found.push_back(each.tensor.value().clone());
  }
  set_num_threads(before);
  for (size_t k = 2; k < found.size(); ++k) check_same_bits(found[k], found[k % 2]);
}

TEST_CASE("muon: matrices of blocks have a momentum, all others the state of AdamW") {
  const TempDir folder;
  const LoadedRun run = load_small(folder, {"optimizer={type: muon, lr: 0.02, adamw: {lr: 1e-2}}"});
  const auto model = make_model(run);
  const auto optimizer = optimizer_of(run, *model);
  CHECK(optimizer->base_lr() == 0.02);
  int64_t with_momentum = 0, with_moments = 0;
  for (const auto& [kind, arrays] : optimizer->state()) {
    for (size_t k = 0; k < arrays->size(); ++k) {
      const NamedParameter& parameter = optimizer->parameters()[k];
      CAPTURE(parameter.name);
      const bool matrix = parameter.tensor.rank() == 2 && contains(parameter.name, "blocks.");
      CHECK(static_cast<bool>((*arrays)[k]) == (matrix == (kind == "momentum_buffer")));
      with_momentum += matrix && kind == "momentum_buffer" ? 1 : 0;
      with_moments += !matrix && kind == "exp_avg" ? 1 : 0;
    }
  }
  CHECK(with_momentum == 6);
  CHECK(with_moments == static_cast<int64_t>(optimizer->parameters().size()) - 6);
}

// AdamW alone, with the rate that a schedule would give it.
TEST_CASE("muon: what it does not train, AdamW does, at the same point of its schedule") {
  const auto trained = [](const std::string& type, const ConfigNode& options, double lr) {
    std::vector<NamedParameter> parameters = {
        {"tok_emb.weight", Tensor::parameter(values({5, 4}))},
        {"trf_blocks.0.norm1.scale", Tensor::parameter(values({4}))}};
    const auto optimizer = optimizer_registry().make(type, options, parameters);
    for (uint64_t step = 1; step <= 4; ++step) {
      for (NamedParameter& each : parameters) {
        each.tensor.set_grad(values(each.tensor.shape(), -1, 1, step));
      }
      optimizer->step(lr, 0.7);
    }
    return parameters;
  };
  const ConfigNode adamw = ConfigNode::map({{"lr", 0.25}, {"betas", ConfigNode::list({0.8, 0.9})}});
  const auto alone = trained("adamw", adamw, 0.125);
  const auto inside = trained("muon", ConfigNode::map({{"lr", 0.5}, {"adamw", adamw}}), 0.25);
  for (size_t k = 0; k < 2; ++k) check_same_bits(alone[k].tensor.value(), inside[k].tensor.value());
}

TEST_CASE("muon: decay that takes matrices to 0 is worth a warning") {
  const auto warning = [](double decay) {
    const ConfigNode options = ConfigNode::map({{"lr", 0.125}, {"weight_decay", decay}});
    return optimizer_registry().make("muon", options, {})->warning();
  };
  CHECK(warning(0.1) == "");
  CHECK(
      contains(warning(8), "optimizer.lr is 0.125, weight_decay 8: each step multiplies weights"));
}
