// Incorrect layers, with the message of examine_layer for each. Correct layers pass.
#include "autograd/op.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/dropout.h"
#include "autograd/ops/linear.h"
#include "autograd/ops/log.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/mean.h"
#include "autograd/random/streams.h"
#include "layers/causal_attention.h"
#include "layers/linear.h"
#include "layers/module/added_losses.h"
#include "layers/module/init.h"
#include "tests/support/layer_cases.h"
#include "tests/support/wrong_backwards.h"
#include "tools/extras/checks/layers/variants.h"
#include "tools/extras/checks/tests/examine/findings.h"
#include "tools/extras/checks/tests/examine/wrong_layers.h"
#include "tools/extras/checks/train/examine_layer.h"
#include "tools/extras/checks/train/testing.h"

using namespace heed;
using namespace heed::testing;

namespace {

Tensor right(const WithWeight& layer, const Input& in) { return linear(in.x, layer.weight, {}); }
using RightLayer = With<right>;

Tensor half_its_gradient(const WithWeight& layer, const Input& in) {
  return half_square(right(layer, in));
}

Tensor forgets_an_input(const WithWeight& layer, const Input& in) {
  return linear(in.x, Tensor(layer.weight).value(), {}) + in.x;
}

Tensor drops_in_evaluation(const WithWeight& layer, const Input& in) {
  return dropout(right(layer, in), 0.5, /*training=*/true);
}

Tensor looks_ahead(const WithWeight& layer, const Input& in) {
  return right(layer, in) + mean(in.x, in.x.rank() - 2, /*keepdim=*/true);
}

Tensor pools_tokens(const WithWeight&, const Input& in) { return mean(in.x, in.x.rank() - 2); }

Tensor limited(const WithWeight& layer, const Input& in) {
  require_context("limited", in, 9);
  return right(layer, in);
}

Tensor counts_threads(const WithWeight& layer, const Input& in) {
  return right(layer, in) * Tensor(static_cast<real>(1 + 1e-3 * num_threads()));
}

Tensor makes_nan(const WithWeight& layer, const Input& in) { return log(right(layer, in)); }

class RegisteredTwice final : public Module {
 public:
  using Config = Width;
  explicit RegisteredTwice(const Config& c)
      : W_query(this, "weight", {c.d_in, c.d_in}, init::linear_weight),
        W_key(this, "weight", {c.d_in, c.d_in}, init::linear_weight) {}
  Parameter W_query, W_key;

 protected:
  Tensor forward(const Input& in) override { return in.x; }
};

class WrongShape final : public Module {
 public:
  using Config = Width;
  explicit WrongShape(const Config& c)
      : weight(this, "weight", {c.d_in + 1, 3}, init::linear_weight) {}
  Parameter weight;

 protected:
  Tensor forward(const Input& in) override { return matmul(in.x, weight); }
};

// A mean that training keeps, as a batch norm does: evaluation adds it, and so may training.
template <bool in_training>
class KeepsState final : public WithWeight {
 public:
  explicit KeepsState(const Config& c) : WithWeight(c), running_(Array::zeros({c.d_in})) {}

 protected:
  Tensor forward(const Input& in) override {
    const Tensor y = linear(in.x, weight, {});
    if (training()) {
      const real* x = in.x.value().data();
      for (int64_t i = 0; i < config.d_in; ++i) running_.mutable_data()[i] += x[i];
    }
    return in_training || !training() ? y + Tensor(running_.clone()) : y;
  }

 private:
  Array running_;
};

// Attention whose keys are made by the matrix of the queries.
class KeysOfQueries final : public WithWeight {
 public:
  explicit KeysOfQueries(const Config& c)
      : WithWeight(c), W_key(this, "W_key", {c.d_in, c.d_in}, init::linear_weight) {}
  Parameter W_key;

 protected:
  Tensor forward(const Input& in) override { return linear(in.x, weight, {}); }
};

// The mean of all tokens, which padding is among.
class MeanOfAll final : public WithWeight {
 public:
  using WithWeight::WithWeight;
  Signature signature() const override { return {.width = config.d_in}; }

 protected:
  Tensor forward(const Input& in) override {
    return linear(in.x + mean(in.x, in.x.rank() - 2, /*keepdim=*/true), weight, {});
  }
};

// Adds a loss over all tokens.
class LossOfAll final : public WithWeight {
 public:
  using WithWeight::WithWeight;

 protected:
  Tensor forward(const Input& in) override {
    const Tensor y = linear(in.x, weight, {});
    if (training()) add_loss("activity", mean(y * y));
    return y;
  }
};

// Keys that a mask hides get the weight 0, but their values are mixed after a shift by all of them.
class HidesWeights final : public WithWeight {
 public:
  using WithWeight::WithWeight;
  Signature signature() const override { return {.width = config.d_in, .mask = true}; }

 protected:
  Tensor forward(const Input& in) override {
    const Tensor x = with_batch("hides_weights", in.x, config.d_in);
    const Tensor weights = attention_weights(matmul(x, x, Trans::no, Trans::yes), in.mask);
    const Tensor v = linear(x, weight, {});
    return without_batch(matmul(weights, v - mean(v, 1, /*keepdim=*/true)), in.x);
  }
};

class SaysTooLittle final : public WithWeight {
 public:
  using WithWeight::WithWeight;
  Signature signature() const override { return {.width = config.d_in}; }

 protected:
  Tensor forward(const Input& in) override { return linear(in.x, weight, {}); }
};

class IgnoresMask final : public WithWeight {
 public:
  using WithWeight::WithWeight;
  Signature signature() const override { return {.width = config.d_in, .mask = true}; }

 protected:
  Tensor forward(const Input& in) override { return mixed(linear(in.x, weight, {})); }

 private:
  static Tensor mixed(const Tensor& x) {
    return matmul(attention_weights(matmul(x, x, Trans::no, Trans::yes), {}), x);
  }
};

class HidesItsMask final : public WithWeight {
 public:
  using WithWeight::WithWeight;
  Signature signature() const override { return {.width = config.d_in}; }

 protected:
  Tensor forward(const Input& in) override {
    const Tensor x = with_batch("hides_its_mask", in.x, config.d_in);
    const Tensor weights = attention_weights(matmul(x, x, Trans::no, Trans::yes), in.mask);
    return without_batch(linear(matmul(weights, x), weight, {}), in.x);
  }
};

}  // namespace

TEST_CASE("examine: a right layer passes, and so do the macros") {
  CHECK(wrong_with<RightLayer>() == "");
  check_layer<RightLayer>("{d_in: 4}", {{2, 5, 4}, {5, 4}, {4, 3, 4}});
  check_layer("{type: causal_attention, d_in: 4, d_out: 3, context_length: 6, dropout: 0.2}",
              {{2, 5, 4}});
  check_layer("{type: embedding, vocab_size: 7, d_model: 3}", {{2, 5}, {4}});
  CHECK(examine_layer_class<RightLayer>("{d_in: 4}").size() >= 13);
}

TEST_CASE("examine 1: a field that is given but not declared") {
  expect(wrong_with<RightLayer>("{d_in: 4, window: 3}"), "config", "window: unknown key");
}

TEST_CASE("examine 2: a parameter registered twice") {
  expect(wrong_with<RegisteredTwice>(), "construction and first call",
         "two parameters are called weight; each Parameter or Buffer of a layer needs a name of "
         "its own");
}

TEST_CASE("examine 3: shapes that do not fit") {
  expect(wrong_with<WrongShape>(), "construction and first call", "matmul: ");
  expect(wrong_with<WrongShape>(), "construction and first call", "(5, 3)");
}

TEST_CASE("examine 4: a backward that is wrong" * doctest::skip(!is_float64)) {
  // layer_gradients_test.cpp has a table of them, with the right ones.
  expect(wrong_forward<half_its_gradient>(), "gradients",
         "compare the backward with its equations");
}

TEST_CASE("examine 5: a backward that forgets an input") {
  expect(wrong_forward<forgets_an_input>(), "gradients that are missing",
         "no gradient reaches weight, but y depends on it: an operation's backward leaves it out, "
         "or .value() cuts the graph");
}

TEST_CASE("examine 6: state that is not saved") {
  expect(wrong_with<KeepsState<false>>(), "checkpoint",
         "y is another one after saving and loading the parameters: ");
  expect(wrong_with<KeepsState<false>>(), "checkpoint", "must be Parameters");
}

TEST_CASE("examine: state from call to call is the only message") {
  const std::string all = wrong_with<KeepsState<true>>();
  CHECK(all.starts_with("threads: y differs from call to call given "));
  CHECK(all.ends_with("no rand()\n"));
  CHECK(std::count(all.begin(), all.end(), '\n') == 1);
}

TEST_CASE("examine: a parameter that nothing depends on") {
  CHECK(wrong_with<KeysOfQueries>() ==
        "gradients that are missing: W_key never changes y: unused?\n");
}

TEST_CASE("examine: what a mask hides counts: padding, in a loss, by its numbers") {
  expect(wrong_with<MeanOfAll>(), "padding", "padding that a mask (B, T) hides counts: ");
  CHECK(wrong_with<LossOfAll>().starts_with(
      "padding: padding that a mask (B, T) hides counts: the loss activity, "));
  expect(wrong_with<HidesWeights>(), "masks", "y changes with numbers that the mask hides, ");
}

TEST_CASE("examine 7: dropout in evaluation") {
  expect(wrong_forward<drops_in_evaluation>(), "evaluation",
         "evaluation draws random numbers given x (2, 5, 4); drop only while training(), as "
         "make_dropout_mask does");
}

TEST_CASE("examine 8: looking ahead in a causal layer") {
  expect(wrong_forward<looks_ahead>(), "causality",
         "y at token 0 changes with the tokens after 0 given x (2, 5, 4), though "
         "signature() says causal; hide later keys");
  expect(wrong_with<SaysTooLittle>(), "causality",
         "y at a token depends on no later token, but signature() does not say causal");
  expect(wrong_forward<pools_tokens>(), "causality",
         "signature() says causal, which needs a row of y for each token, but y is (2, 4)");
}

TEST_CASE("examine: masks that are said and not read, read and not said") {
  expect(wrong_with<IgnoresMask>(), "masks", "y is the same without the mask given x (2, 5, 4), ");
  expect(wrong_with<HidesItsMask>(), "masks",
         "the layer reads a mask, but signature() does not say mask");
}

TEST_CASE("examine: a largest number of tokens that the signature does not give") {
  expect(wrong_forward<limited>(), "number of tokens",
         "limited: expected at most context_length 9 tokens, got 48 in (1, 48, 4) given x (1, 48, "
         "4); a layer with a largest number of tokens gives it in signature(), as .longest\n");
}

TEST_CASE("examine: a width of x that is not the signature's") {
  const std::vector<Finding> found = examine_layer_class<RightLayer>("{d_in: 4}", {{2, 5, 3}});
  CHECK(message_of("construction and first call", found)
            .find("signature() says that x is 4 wide, got a shape (2, 5, 3)") != std::string::npos);
}

TEST_CASE("examine 9: other results for 1 and 2 threads") {
  expect(wrong_forward<counts_threads>(), "threads",
         "y differs for 1 and 2 threads given x (2, 5, 4): ");
  expect(wrong_forward<counts_threads>(), "threads", "never by num_threads()");
}

TEST_CASE("examine 10: a NaN") {
  const std::string all = wrong_forward<makes_nan>();
  expect(all, "finite numbers",
         "y is not finite given x (2, 5, 4) of up to 1.5: anomaly: log made NaN");
  expect(all, "finite numbers", "guard the operation: an eps in a division");
}

TEST_CASE("examine: a config that is wrong, a type that is unknown") {
  const auto first = [](const std::string& config) { return examine_layer(config)[0].message; };
  CHECK(first("{type: liner, d_in: 4}").find("did you mean linear?") != std::string::npos);
  CHECK(first("{type: mine_alone}") ==
        "ended with an error: unknown layer mine_alone (a header of your own counts if "
        "heedgrad_add_plugin lists it)");
  CHECK(first("{type: linear, d_in: 4}").find("d_out: missing") != std::string::npos);
  CHECK(first("{type: linear, ").find("config:") != std::string::npos);
}

TEST_CASE("examine: every layer that is built in, every option") {
  int64_t layers = 0, causal = 0;
  for (const std::string& type : layer_registry().types().names()) {
    // Types without a layer, registered by config_test.cpp.
    if (type == "attention" || type == "everything" || type == "plain") continue;
    bool claims = false;
    std::vector<ConfigNode> variants =
        option_variants(layer_registry().types().find(type)->fields());
    // layer_gradients_test.cpp checks the gradients for every option.
    if (is_float64) variants.resize(1);
    for (const ConfigNode& options : variants) {
      report(type + " " + to_yaml(options), examine_layer(read_options("layer", type, options)));
      claims = claims || make_layer(type, options)->signature().causal;
    }
    ++layers;
    causal += claims ? 1 : 0;
  }
  CHECK(layers >= 20);
  CHECK(causal >= 5);
}
