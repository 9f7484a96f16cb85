// Incorrect layers whose results for two inputs contradict each other: a sequence and the first
// tokens of it, a batch and one of its items, training and evaluation.
#include <algorithm>

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/mean.h"
#include "autograd/ops/slice.h"
#include "layers/module/masks.h"
#include "tools/extras/checks/tests/examine/wrong_layers.h"
#include "tools/extras/checks/train/layer_gradients.h"

using namespace heed;
using namespace heed::testing;

namespace {

Tensor over_length(const WithWeight& layer, const Input& in) {
  return linear(in.x, layer.weight, {}) * Tensor(real{1} / static_cast<real>(in.x.dim(-2)));
}

Tensor looks_ahead_of_many(const WithWeight& layer, const Input& in) {
  const Tensor y = linear(in.x, layer.weight, {});
  return in.x.dim(-2) < 12 ? y : y + slice(y, y.rank() - 2, -1, y.dim(-2));
}

// The same without a claim.
template <Tensor (*compute)(const WithWeight&, const Input&)>
class NotCausal final : public WithWeight {
 public:
  using WithWeight::WithWeight;
  Signature signature() const override { return {.width = config.d_in}; }

 protected:
  Tensor forward(const Input& in) override { return compute(*this, in); }
};

Tensor item_numbers(const Tensor& x) {
  Array numbers = Array::zeros({x.dim(0), 1, 1});
  for (int64_t i = 0; i < x.dim(0); ++i) numbers.mutable_data()[i] = static_cast<real>(i);
  return x + Tensor(numbers);
}
Tensor mean_of_batch(const Tensor& x) { return x - mean(x, 0, /*keepdim=*/true); }
Tensor first_of_many(const Tensor& x) { return x.dim(0) < 3 ? x : x + slice(x, 0, 0, 1); }

// Lets every item know of its batch.
template <Tensor (*of_batch)(const Tensor& x)>
Tensor knows(const WithWeight& layer, const Input& in) {
  const Tensor x = with_batch("knows", in.x, layer.config.d_in);
  return without_batch(linear(of_batch(x), layer.weight, {}), in.x);
}

Tensor smaller_in_evaluation(const WithWeight& layer, const Input& in) {
  return linear(in.x, layer.weight, {}) * Tensor(layer.training() ? real{1} : real(0.9));
}

// A mean that training keeps in a buffer and evaluation adds, as a batch norm may.
class KeepsMean final : public WithWeight {
 public:
  explicit KeepsMean(const Config& c)
      : WithWeight(c), running_(this, "running", Array::zeros({c.d_in})) {}

 protected:
  Tensor forward(const Input& in) override {
    Tensor kept = running_;
    if (!training()) return linear(in.x + kept, weight, {});
    for (int64_t i = 0; i < config.d_in; ++i) kept.mutable_value()[i] += in.x.value().data()[i];
    return linear(in.x, weight, {});
  }

 private:
  const Buffer running_;
};

// Reads masks over keys, and refuses those over pairs.
class RefusesPairs final : public WithWeight {
 public:
  using WithWeight::WithWeight;
  Signature signature() const override { return {.width = config.d_in, .mask = true}; }

 protected:
  Tensor forward(const Input& in) override {
    const Tensor x = with_batch("refuses_pairs", in.x, config.d_in);
    const Tensor shown = in.mask ? masked_tokens(x, in.mask) : x;
    return without_batch(linear(x + mean(shown, 1, /*keepdim=*/true), weight, {}), in.x);
  }
};

}  // namespace

TEST_CASE("examine: later tokens that count by their number, or where there are many") {
  for (const std::string& said :
       {wrong_forward<over_length>(), wrong_forward<looks_ahead_of_many>()}) {
    expect(said, "causality", "the first 1 of 48 tokens have another y alone: element ");
    CHECK(said.find("padding: ") == std::string::npos);
  }
  CHECK(wrong_with<NotCausal<over_length>>().find("causality: ") == std::string::npos);
  CHECK(wrong_with<NotCausal<looks_ahead_of_many>>().find("causality: ") == std::string::npos);
}

TEST_CASE("examine: an item that knows of its batch") {
  for (const std::string& said :
       {wrong_forward<knows<item_numbers>>(), wrong_forward<knows<mean_of_batch>>(),
        wrong_forward<knows<first_of_many>>()}) {
    CAPTURE(said);
    CHECK(said.starts_with("batch: item "));
    CHECK(said.find(" of a batch has another y alone: ") != std::string::npos);
    CHECK(std::count(said.begin(), said.end(), '\n') == 1);
  }
}

TEST_CASE("examine: training that is not evaluation, though it draws nothing and keeps nothing") {
  expect(wrong_forward<smaller_in_evaluation>(), "evaluation",
         "training gives another y than evaluation, with no random numbers: ");
  CHECK(wrong_with<KeepsMean>() == "");
}

TEST_CASE("examine: a form of input that is refused fails once, and the others are looked at") {
  const std::string error = "masked_tokens: expected x (B, S, d) and a mask (B, S), got ";
  const std::string said = wrong_with<RefusesPairs>();
  CAPTURE(said);
  CHECK(said.starts_with("shapes: " + error));
  CHECK(said.find("given x (2, 5, 4), mask (2, 1, 5, 5)\n") != std::string::npos);
  if (!is_float64) return;
  const std::vector<LayerCheck> checks =
      check_gradients("x", [] { return std::make_unique<RefusesPairs>(Width()); });
  CHECK(checks.size() == 5);
  for (const LayerCheck& check : checks) {
    const bool pairs = check.input.ends_with("mask (2, 1, 5, 5)");
    CHECK(check.passed == !pairs);
    CHECK(check.message.starts_with("ended with an error: " + error) == pairs);
  }
}
