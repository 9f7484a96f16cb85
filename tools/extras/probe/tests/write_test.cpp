// Direct logit attribution: against TransformerLens's, which is in tests/golden/probe (made by
// tools/reference/attribution_golden.py), sums for random prompts, and what it refuses.
#include "tools/extras/probe/write.h"

#include <nlohmann/json.hpp>
#include <random>

#include "autograd/ops/tanh.h"
#include "layers/linear.h"
#include "layers/module/evaluation_mode.h"
#include "tests/support/run_program.h"
#include "tools/extras/probe/tests/small_gpt.h"
#include "train/extras/toy_tasks/tests/made/made_task_cases.h"

using namespace heed;
using namespace heed::testing;
using namespace heed::probe;

namespace {

double summed(const Attribution& attribution) {
  double sum = 0;
  for (const Contribution& part : attribution.parts) sum += part.value;
  return sum;
}

// "embedding head0.2 ", with block and head.
std::string names_in(const Attribution& attribution) {
  std::string names;
  for (const Contribution& of : attribution.parts) {
    names += of.part + (of.block ? std::to_string(*of.block) : "") +
             (of.head ? "." + std::to_string(*of.head) : "") + " ";
  }
  return names;
}

const char* const attention_of_six =
    "{type: multi_head_attention, d_in: 6, d_out: 6, context_length: 8, num_heads: 2}";

// An attention that does more with its heads than one Linear.
class Squashed final : public Module {
 public:
  Squashed() : inner(this, "inner", layer_of(attention_of_six)) {}
  Child<Module> inner;

 protected:
  Tensor forward(const Input& in) override { return tanh(inner(in)); }
};

// x = norm(x + att(x)), as in Vaswani et al. 2017; or, with `before`, x = x + att(norm(x)).
class BlockOfNorm final : public Module {
 public:
  BlockOfNorm(bool before, std::unique_ptr<Module> attention)
      : att(this, "att", std::move(attention)),
        norm(this, "norm", layer_of("{type: layer_norm, d_model: 6}")),
        before_(before) {}
  std::vector<Branch> branches() const override { return {{&*norm, &*att, true}}; }
  Child<Module> att, norm;

 protected:
  Tensor forward(const Input& in) override {
    return before_ ? in.x + att(in.with(norm(in.x))) : norm(in.x + att(in));
  }

 private:
  const bool before_;
};

// A model around such a block.
class AroundBlock final : public Module {
 public:
  explicit AroundBlock(std::unique_ptr<Module> of)
      : emb(this, "emb", layer_of("{type: embedding, vocab_size: 8, d_model: 6}")),
        block(this, "block", std::move(of)),
        last(this, "last", layer_of("{type: layer_norm, d_model: 6}")),
        head(this, "head", layer_of("{type: linear, d_in: 6, d_out: 8}")) {}
  Child<Module> emb, block, last, head;

 protected:
  Tensor forward(const Input& in) override { return head(last(block(in.with(emb(in.ids))))); }
};

std::string around_error(bool before, std::unique_ptr<Module> attention) {
  AroundBlock model(std::make_unique<BlockOfNorm>(before, std::move(attention)));
  return message_of<ConfigError>([&] { attribute(model, tokens({1, 2, 3}), {4}); });
}

// Layers in a row, the last ones as given.
std::unique_ptr<Module> in_a_row(const std::string& last) {
  return perturbed(
      "{type: sequential, layers: [{type: embedding, vocab_size: 8, d_model: 6}, {type: "
      "transformer_block, d_model: 6, num_heads: 2, context_length: 8}, " +
      last + "]}");
}

}  // namespace

TEST_CASE("write: as TransformerLens attributes it") {
  const auto golden = nlohmann::json::parse(
      read_text(std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/probe/attribution.json"));
  const double tolerance = is_float64 ? 1e-7 : 2e-5;
  int64_t compared = 0;
  for (const auto& of : golden["cases"]) {
    const auto name = of["model"].get<std::string>();
    CAPTURE(name);
    const auto model = golden_layer(name);
    const auto wrong = of["wrong"].is_null() ? std::optional<int32_t>()
                                             : std::optional(of["wrong"].get<int32_t>());
    const Attribution found = attribute(*model, tokens(of["ids"].get<std::vector<int32_t>>()),
                                        {of["answer"].get<int32_t>(), wrong});
    CHECK(std::abs(found.logit - of["logit"].get<double>()) < tolerance);
    REQUIRE(found.parts.size() == of["parts"].size());
    for (size_t i = 0; i < found.parts.size(); ++i) {
      const auto& want = of["parts"][i];
      const Contribution& got = found.parts[i];
      CHECK(got.part == want["part"].get<std::string>());
      CHECK(got.block.value_or(-1) == (want["block"].is_null() ? -1 : want["block"].get<int>()));
      CHECK(got.head.value_or(-1) == (want["head"].is_null() ? -1 : want["head"].get<int>()));
      CHECK(std::abs(got.value - want["value"].get<double>()) < tolerance);
      ++compared;
    }
  }
  CHECK(compared > 120);
}

TEST_CASE("write: parts sum to the logit, for random prompts of five models") {
  std::mt19937 generator(7);
  const auto drawn = [&](int32_t below) { return static_cast<int32_t>(generator() % below); };
  for (const char* more :
       {"", ", norm: rms_norm, position: rope, bias: false, activation: swiglu, num_kv_heads: 1",
        ", attention: {type: multi_head_attention_wrapper}, feed_forward: none",
        ", qkv_bias: true, tie_embeddings: true, position: sinusoidal, norm_eps: 0.1",
        ", qkv_bias: true, position: rope, rotary_fraction: 0.5, parallel_residual: true"}) {
    CAPTURE(more);
    const auto model = small_gpt(more);
    for (int i = 0; i < 50; ++i) {
      std::vector<int32_t> ids(static_cast<size_t>(1 + drawn(12)));
      std::generate(ids.begin(), ids.end(), [&] { return drawn(8); });
      const int32_t answer = drawn(8);
      const auto wrong = i % 2 == 0 ? std::optional<int32_t>() : (answer + 3) % 8;
      const Attribution found = attribute(*model, tokens(ids), {answer, wrong});
      const EvaluationMode evaluating(*model);
      const Array logits = (*model)(tokens(ids)).value();
      const auto last = logits.span().last(8);
      const auto of = [&](int32_t id) {
        return static_cast<double>(last[static_cast<size_t>(id)]);
      };
      CHECK(found.logit == of(answer) - (wrong ? of(*wrong) : 0));
      CHECK(std::abs(summed(found) - found.logit) < 1e-5);
    }
  }
}

TEST_CASE("write: names of the parts") {
  CHECK(names_in(attribute(*small_gpt(), tokens({1, 2, 3}), {4})) ==
        "embedding position head0.0 head0.1 head0.2 out_bias0 feed_forward0 "
        "head1.0 head1.1 head1.2 out_bias1 feed_forward1 final_shift ");
  CHECK(names_in(attribute(*small_gpt(", position: rope, feed_forward: none"), tokens({1}), {4})) ==
        "embedding head0.0 head0.1 head0.2 out_bias0 head1.0 head1.1 head1.2 out_bias1 "
        "final_shift ");
  // Layers in a row are a model, too, and the bias of their Linear belongs to final_shift.
  const auto row = in_a_row("{type: layer_norm, d_model: 6}, {type: linear, d_in: 6, d_out: 8}");
  const Attribution found = attribute(*row, tokens({1, 2, 3}), {4});
  CHECK(names_in(found) == "embedding head0.0 head0.1 out_bias0 feed_forward0 final_shift ");
  CHECK(summed(found) == doctest::Approx(found.logit).epsilon(1e-5));
}

TEST_CASE("write: attention without heads, next to others, is a part as a whole") {
  const auto mixed = small_gpt(", attention: [{type: linear}, {}]");
  const EvaluationMode evaluating(*mixed);
  const Input in = tokens({1, 2, 3});
  const Array logits = (*mixed)(in).value();
  const Attribution attribution = attribute(*mixed, in, {4});
  CHECK(names_in(attribution) ==
        "embedding position attention0 feed_forward0 head1.0 head1.1 head1.2 out_bias1 "
        "feed_forward1 final_shift ");
  const double logit =
      static_cast<double>(logits.span().last(static_cast<size_t>(logits.dim(2)))[4]);
  CHECK(summed(attribution) == doctest::Approx(logit).epsilon(1e-5));
}

TEST_CASE("write: refuses models whose parts do not add up to a logit, in a line") {
  const auto refusal = [](Module& model, const Input& in) {
    return message_of<ConfigError>([&] { attribute(model, in, {1}); });
  };
  const std::string begin = "heed probe: write: ";
  const auto classifier = layer_of(
      "{type: classifier, vocab_size: 7, num_classes: 3, context_length: 6, d_model: 12, "
      "num_heads: 2, num_layers: 1}");
  CHECK(refusal(*classifier, tokens({1, 2, 3})) ==
        begin +
            "expected a model that names a token at each position, logits (1, 3, V), got (1, 3)");
  const auto translator = layer_of(
      "{type: encoder_decoder, source_vocab_size: 5, vocab_size: 7, source_length: 8, "
      "context_length: 6, d_model: 12, num_heads: 2, num_layers: 1}");
  Input two = tokens({1, 2});
  two.source_ids = two.ids;
  CHECK(refusal(*translator, two) ==
        begin +
            "expected a model that reads one sequence, such as gpt, got one with an encoder "
            "and a decoder");
  CHECK(refusal(*small_gpt(", attention: {type: linear}"), tokens({1, 2})) ==
        begin +
            "trf_blocks.0.att offers no heads: it ends neither in attend nor in mix_values "
            "(layers/module/attend.h)");
  CHECK(refusal(*in_a_row("{type: linear, d_in: 6, d_out: 8}"), tokens({1, 2})) ==
        begin + "expected a layer_norm or rms_norm after the last block, got 2, another layer");
  const std::string capped = refusal(
      *in_a_row("{type: layer_norm, d_model: 6}, {type: linear, d_in: 6, d_out: 8}, {type: gelu}"),
      tokens({1, 2}));
  CHECK(capped.starts_with(begin + "the parts add up to "));
  CHECK(capped.ends_with(": the model does more with its last norm than one Linear layer"));
  CHECK(around_error(true, layer_of(attention_of_six)) == "no error");
  CHECK(around_error(false, layer_of(attention_of_six)) ==
        begin +
            "block does more than add its attention and feed-forward to what it is given, as "
            "x + att(norm(x)) does: what each of them adds cannot be told");
  CHECK(around_error(true, std::make_unique<Squashed>()) ==
        begin + "block.att is not a sum over its heads: what each of them adds cannot be told");
}
