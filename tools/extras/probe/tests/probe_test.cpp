// What heads, lens, ablate and patch compute, against the same computed by hand.
#include <algorithm>
#include <cmath>

#include "layers/gpt.h"
#include "layers/module/evaluation_mode.h"
#include "tools/extras/probe/ablate.h"
#include "tools/extras/probe/lens.h"
#include "tools/extras/probe/patch.h"
#include "tools/extras/probe/tests/small_gpt.h"
#include "tools/extras/probe/tests/small_induction.h"
#include "tools/extras/report/heads.h"
#include "tools/extras/report/parts.h"
#include "train/evaluate.h"

using namespace heed;
using namespace heed::testing;
using namespace heed::probe;

namespace {

Array logits_of(Module& model, const Input& in) {
  const EvaluationMode evaluating(model);
  return model(in).value();
}

}  // namespace

TEST_CASE("heads: means of the weights, as an AttentionRecorder sees them") {
  const auto model = small_gpt();
  const int64_t repeat = 6, count = 3;
  const Input in = repeated_tokens(*model, count, repeat, 5);
  CHECK(in.ids.shape() == Shape{count, 12});
  const HeadScores scores = score_heads(*model, in, repeat);
  REQUIRE(scores.heads.size() == 6);
  CHECK(scores.sequences.size() == 3);
  AttentionRecorder recorder;
  logits_of(*model, in);
  for (const HeadScore& of : scores.heads) {
    const Array& w = recorder.recorded[static_cast<size_t>(of.block)].weights;  // (3, 3, 12, 12)
    const auto mean = [&](int64_t from, auto&& term) {
      double sum = 0;
      for (int64_t b = 0; b < count; ++b) {
        for (int64_t t = from; t < 12; ++t) {
          sum += term(t, w.data() + ((b * 3 + of.head) * 12 + t) * 12);
        }
      }
      return doctest::Approx(sum / static_cast<double>(count * (12 - from))).epsilon(1e-9);
    };
    const auto at = [](const real* row, int64_t s) { return static_cast<double>(row[s]); };
    CHECK(of.layer == text("trf_blocks.", of.block, ".att"));
    CHECK(*of.previous_token == mean(1, [&](int64_t t, auto row) { return at(row, t - 1); }));
    CHECK(*of.first_token == mean(1, [&](int64_t, auto row) { return at(row, 0); }));
    CHECK(*of.duplicate_token == mean(6, [&](int64_t t, auto row) { return at(row, t - 6); }));
    CHECK(*of.induction == mean(6, [&](int64_t t, auto row) { return at(row, t - 5); }));
    CHECK(of.entropy == mean(0, [&](int64_t t, auto row) {
            double entropy = 0;
            for (int64_t s = 0; s <= t; ++s) entropy -= at(row, s) * std::log(at(row, s));
            return entropy;
          }));
  }
}

TEST_CASE("heads: on examples, wherever a token comes again") {
  const auto model = small_gpt();
  const HeadScores scores = score_heads(*model, tokens({1, 2, 1, 1}), {});
  AttentionRecorder recorder;
  logits_of(*model, tokens({1, 2, 1, 1}));
  const auto w = [&](int64_t t, int64_t s) {
    return static_cast<double>(recorder.recorded[0].weights.data()[t * 4 + s]);
  };
  const HeadScore& head = scores.heads[0];
  CHECK(!scores.repeat);
  CHECK(*head.duplicate_token == doctest::Approx((w(2, 0) + w(3, 0) + w(3, 2)) / 2));
  CHECK(*head.induction == doctest::Approx((w(2, 1) + w(3, 1) + w(3, 3)) / 2));
  CHECK(!score_heads(*model, tokens({1, 2, 3}), {}).heads[0].induction);  // nothing comes again
}

TEST_CASE("heads: of separate layers, of an encoder-decoder and of a classifier") {
  const auto wrapper = small_gpt(", attention: {type: multi_head_attention_wrapper}");
  const HeadScores one_by_one = score_heads(*wrapper, repeated_tokens(*wrapper, 2, 4, 1), 4);
  REQUIRE(one_by_one.heads.size() == 6);
  CHECK(one_by_one.heads[4].head == 1);
  CHECK(one_by_one.heads[4].block == 1);
  const auto translator = perturbed(
      "{type: encoder_decoder, source_vocab_size: 5, vocab_size: 7, source_length: 8, "
      "context_length: 6, d_model: 12, num_heads: 2, num_layers: 1}");
  CHECK(default_repeat(*translator) == 3);
  const HeadScores both = score_heads(*translator, repeated_tokens(*translator, 2, 3, 1), 3);
  REQUIRE(both.heads.size() == 6);
  CHECK(head_name(both.heads[0], both) == "encoder_blocks 0 att head 0");
  CHECK(head_name(both.heads[5], both) == "decoder_blocks 0 cross_att head 1");
  CHECK(both.heads[2].induction.has_value());
  CHECK(both.heads[4].cross);
  CHECK(!both.heads[4].induction);
  CHECK(both.heads[4].diagonal.has_value());
  const auto classifier = perturbed(
      "{type: classifier, vocab_size: 7, num_classes: 3, context_length: 6, d_model: 12, "
      "num_heads: 2, num_layers: 1}");
  CHECK(score_heads(*classifier, repeated_tokens(*classifier, 2, 3, 1), 3).heads.size() == 2);
}

TEST_CASE("heads: of a model whose blocks differ, those of the blocks that offer some") {
  const auto mixed = small_gpt(", attention: [{type: linear}, {}]");
  const HeadScores scores = score_heads(*mixed, repeated_tokens(*mixed, 2, 3, 1), 3);
  REQUIRE(scores.heads.size() == 3);
  CHECK(scores.heads[0].layer == "trf_blocks.1.att");
  CHECK(head_name(scores.heads[2], scores) == "block 1 head 2");
  const Patches patches = patch(*mixed, tokens({1, 2, 3}), tokens({1, 4, 3}), {6});
  CHECK(patches.heads.at(0).empty());
  CHECK(patches.heads.at(1).size() == 3);
}

TEST_CASE("heads: refuses models without blocks, and layers that offer no heads") {
  const auto without = layer_of(
      "{type: classifier, vocab_size: 7, num_classes: 3, context_length: 6, d_model: 12, "
      "num_layers: 0}");
  CHECK(message_of<ConfigError>([&] {
          score_heads(*without, tokens({1, 2}), 1);
        }).ends_with("or classifier, got one without"));
  const auto linear = small_gpt(", attention: {type: linear}");
  CHECK(message_of<ConfigError>([&] {
          score_heads(*linear, tokens({1, 2}), 1);
        }) ==
        "heed probe: heads: trf_blocks.0.att offers no heads: it ends neither in attend nor in "
        "mix_values (layers/module/attend.h)");
  CHECK(message_of<ConfigError>([&] { repeated_tokens(*linear, 1, 7, 1); }) ==
        "heed probe: heads: expected --repeat at most 6, half the longest sequence of the model, "
        "got 7");
  constexpr int64_t largest = std::numeric_limits<int64_t>::max();
  CHECK(message_of<ConfigError>([&] {
          repeated_tokens(*linear, 1, largest, 1);
        }).starts_with("heed probe: heads: expected --repeat at most 6"));
  CHECK(message_of<ConfigError>([&] {
          repeated_tokens(*linear, largest, 3, 1);
        }).starts_with("heed probe: heads: expected --sequences at most 10000"));
}

TEST_CASE("evaluation has the same bits with and without an observer") {
  const auto model = small_gpt();
  const auto task = small_induction();
  const Evaluation plain = evaluate(*model, *task, Split::validation, 16, {});
  std::vector<PartObserver::Watched> all;
  const auto stacks = stacks_of(*model, "test");
  for (const auto& block : stacks.front()) {
    for (const Activation what : {Activation::heads, Activation::attn_weights}) {
      all.push_back({block.attention.front(), what});
    }
    all.push_back({block.layer, Activation::output});
    all.push_back({block.feed_forward, Activation::output});
  }
  int64_t seen = 0;
  const PartObserver observer(all, [&](const Observation&) { return ++seen, Array(); });
  const Evaluation observed = evaluate(*model, *task, Split::validation, 16, {});
  CHECK(seen > 8);
  CHECK(observed.loss == plain.loss);
  CHECK(observed.accuracy == plain.accuracy);
}

TEST_CASE("lens: the last row is the model's answer, the first one that without blocks") {
  const auto model = small_gpt();
  const std::vector<int32_t> ids{3, 1, 4, 1, 5};
  const Lens lens = logit_lens(*model, tokens(ids));
  REQUIRE(lens.blocks.size() == 3);
  CHECK(lens.ids == ids);
  auto& gpt = dynamic_cast<Gpt&>(*model);
  const NoGrad off;
  const Array ends[] = {
      gpt.out_head((*gpt.final_norm)((*gpt.pos_emb)((*gpt.tok_emb)(tokens(ids))))).value(),
      logits_of(*model, tokens(ids))};
  for (const size_t last : {0, 1}) {
    for (size_t t = 0; t < ids.size(); ++t) {
      const auto row = ends[last].span().subspan(t * 8, 8);
      const Guess& guess = lens.blocks[2 * last][t];
      double sum = 0;
      for (const real logit : row) sum += std::exp(static_cast<double>(logit));
      const auto top = std::max_element(row.begin(), row.end());
      CHECK(guess.id == top - row.begin());
      CHECK(guess.probability ==
            doctest::Approx(std::exp(static_cast<double>(*top)) / sum).epsilon(1e-5));
      CHECK(guess.rank.has_value() == (t + 1 < ids.size()));
      if (guess.rank) {
        const real right = row[static_cast<size_t>(ids[t + 1])];
        CHECK(*guess.rank ==
              1 + std::count_if(row.begin(), row.end(), [&](real other) { return other > right; }));
      }
    }
  }
  const auto classifier = layer_of(
      "{type: classifier, vocab_size: 7, num_classes: 3, context_length: 6, d_model: 12, "
      "num_heads: 2, num_layers: 1}");
  CHECK(message_of<ConfigError>([&] {
          logit_lens(*classifier, tokens({1, 2, 3}));
        }) ==
        "heed probe: lens: expected a model that names a token at each position, logits (1, 3, V), "
        "got (1, 3)");
}

TEST_CASE("lens: of masked words, the right token is the one that stands there") {
  const auto model = layer_of(
      "{type: encoder, vocab_size: 8, context_length: 6, d_model: 12, num_heads: 2, num_layers: "
      "1}");
  const std::vector<int32_t> ids{3, 1, 7, 1, 5};  // 7: [MASK]
  const Array logits = logits_of(*model, tokens(ids));
  for (size_t t = 0; t < ids.size(); ++t) {
    const auto row = logits.span().subspan(t * 8, 8);
    const std::optional<int64_t> rank = logit_lens(*model, tokens(ids)).blocks.back()[t].rank;
    CHECK(rank.has_value() == (ids[t] != 7));
    const real right = row[static_cast<size_t>(ids[t])];
    const auto above =
        std::count_if(row.begin(), row.end(), [&](real other) { return other > right; });
    if (rank) CHECK(*rank == 1 + above);
  }
}

TEST_CASE("ablate: a head without its columns of out_proj, sorted by what is lost") {
  const auto task = small_induction();
  for (const char* more : {"", ", position: rope, rotary_fraction: 0.5, parallel_residual: true"}) {
    CAPTURE(more);
    const auto model = small_gpt(more);
    const Ablations found = ablate(*model, *task, Ablation::zero, 16, 2);
    CHECK(found.loss == evaluate(*model, *task, Split::validation, 16, 2).loss);
    REQUIRE(found.parts.size() == 2 * (3 + 1 + 1));
    CHECK(std::is_sorted(found.parts.begin(), found.parts.end(),
                         [](const Ablated& a, const Ablated& b) { return a.loss > b.loss; }));
    int64_t compared = 0;
    for (const Ablated& of : found.parts) {
      if (!of.head) continue;
      const auto without = small_gpt(more);
      auto weight =
          testing::parameter_of(*without, of.part + ".out_proj.weight").clone();  // (12, 12)
      for (int64_t i = 0; i < 12; ++i) {
        std::fill_n(weight.mutable_data() + i * 12 + 4 * *of.head, 4, real{0});
      }
      set_parameter(*without, of.part + ".out_proj.weight", weight);
      const Evaluation want = evaluate(*without, *task, Split::validation, 16, 2);
      CHECK(of.loss == doctest::Approx(want.loss).epsilon(1e-5));
      CHECK(*of.accuracy == doctest::Approx(*want.accuracy).epsilon(0.01));
      ++compared;
    }
    CHECK(compared == 6);
    // Its mean is the output of attention that does not depend on the examples.
    const Ablations mean = ablate(*model, *task, Ablation::mean, 16, 2);
    CHECK(mean.parts.size() == found.parts.size());
    CHECK(mean.parts.front().loss != found.parts.front().loss);
  }
  const auto only = small_gpt(", feed_forward: none");
  CHECK(ablate(*only, *task, Ablation::zero, 16, 1).parts.size() == 2 * (3 + 1));
}

TEST_CASE("ablate: the mean is over what the masks show") {
  const auto task =
      made_task("sort", ConfigNode::map({{"length", 5}, {"min_length", 2}, {"symbols", 7}}));
  const auto model = small_gpt(", attention: {type: multi_head_attention, causal: false}");
  const Module* const part = stacks_of(*model, "")[0][1].feed_forward;
  const int64_t n = 8, all = task->data().example_count(Split::validation);
  std::vector<int64_t> numbers;  // those that evaluate() takes
  for (int64_t k = 0; k < n; ++k) numbers.push_back(k * all / n);
  const Input in = task->data().examples(Split::validation, numbers).input;
  const auto shown =
      static_cast<double>(std::count(in.mask.span().begin(), in.mask.span().end(), 1));
  REQUIRE(shown < static_cast<double>(in.mask.size()));
  std::vector<double> mean(12);
  {
    const PartObserver observer({{part, Activation::output}}, [&](const Observation& seen) {
      for (int64_t i = 0; i < seen.value.size(); ++i) {
        mean[static_cast<size_t>(i % 12)] +=
            in.mask.data()[i / 12] * static_cast<double>(seen.value.data()[i]) / shown;
      }
      return Array();
    });
    logits_of(*model, in);
  }
  const auto of_mean = [&] {
    const PartObserver observer({{part, Activation::output}}, [&](const Observation& seen) {
      Array out = seen.value.clone();
      for (int64_t i = 0; i < out.size(); ++i) {
        out.mutable_data()[i] = static_cast<real>(mean[static_cast<size_t>(i % 12)]);
      }
      return out;
    });
    return evaluate(*model, *task, Split::validation, n, 1).loss;
  };
  for (const Ablated& of : ablate(*model, *task, Ablation::mean, n, 1).parts) {
    if (of.part == part->path()) CHECK(of.loss == doctest::Approx(of_mean()).epsilon(1e-6));
  }
}

TEST_CASE("patch: everything that leads to the answer restores it") {
  const auto model = small_gpt();
  const Input clean = tokens({1, 2, 3, 4}), corrupt = tokens({1, 2, 5, 4});
  const Patches found = patch(*model, clean, corrupt, {6});
  const Array of_clean = logits_of(*model, clean), of_corrupt = logits_of(*model, corrupt);
  CHECK(found.clean == static_cast<double>(of_clean.data()[3 * 8 + 6]));
  CHECK(found.corrupt == static_cast<double>(of_corrupt.data()[3 * 8 + 6]));
  REQUIRE(found.residual.size() == 2);
  CHECK(found.residual[1][3] == 1);  // what the answer is read from
  for (const auto& rows : {found.residual, found.attention, found.feed_forward}) {
    CHECK(rows[0].size() == 4);
    CHECK(rows[0][0] == 0);  // before the tokens differ
    CHECK(rows[0][1] == 0);
    CHECK(rows[1][2] == 0);  // no later block reads it
  }
  CHECK(found.residual[0][2] != 0);
  CHECK(found.heads[0].size() == 3);
  const Patches difference = patch(*model, clean, corrupt, {6, 7});
  CHECK(difference.clean == doctest::Approx(static_cast<double>(of_clean.data()[3 * 8 + 6]) -
                                            static_cast<double>(of_clean.data()[3 * 8 + 7])));
  const auto only = small_gpt(", feed_forward: none");
  CHECK(patch(*only, clean, corrupt, {6}).feed_forward[0].empty());
}

// At the last position the two prompts have the same token. A feed-forward that reads what the
// block is given sees no difference there; one behind the attention does.
TEST_CASE("probes: branches side by side, as in GPT-NeoX") {
  const std::string neox = ", position: rope, rotary_fraction: 0.5, num_layers: 1";
  const Input clean = tokens({1, 2, 3, 4}), corrupt = tokens({1, 2, 5, 4});
  const auto one_block = [&](const std::string& more) {
    return perturbed("{type: gpt, vocab_size: 8, context_length: 12, d_model: 12, num_heads: 3" +
                     neox + more + "}");
  };
  const Patches in_a_row = patch(*one_block(""), clean, corrupt, {6});
  CHECK(std::abs(in_a_row.feed_forward[0][3]) > 1e-3);
  const auto model = one_block(", parallel_residual: true");
  const Patches found = patch(*model, clean, corrupt, {6});
  CHECK(found.attention[0][3] == doctest::Approx(1));
  CHECK(found.feed_forward[0][3] == 0);

  auto& gpt = dynamic_cast<Gpt&>(*model);
  const TransformerBlock& block = *gpt.trf_blocks[0];
  const NoGrad off;
  const Tensor x = (*gpt.tok_emb)(clean);
  const Tensor y = x + block.att(block.norm1(x)) + (*block.ff)((*block.norm2)(x));
  const Array logits = gpt.out_head((*gpt.final_norm)(y)).value();
  check_near(logits, logits_of(*model, clean));
  const Lens lens = logit_lens(*model, clean);
  REQUIRE(lens.blocks.size() == 2);
  CHECK(lens.blocks[1][3].probability ==
        doctest::Approx(guess_of(logits.span().subspan(3 * 8, 8), {}).probability).epsilon(1e-5));
  const HeadScores heads = score_heads(*model, clean, {});
  CHECK(heads.heads.size() == 3);
}

TEST_CASE("patch: refuses") {
  const auto model = small_gpt();
  CHECK(message_of<ConfigError>([&] {
          patch(*model, tokens({1, 2}), tokens({1, 2}), {6});
        }).ends_with("for both: there is nothing to restore"));
  const auto linear = small_gpt(", attention: {type: linear}");
  CHECK(message_of<ConfigError>([&] {
          patch(*linear, tokens({1, 2}), tokens({1, 3}), {6});
        }).starts_with("heed probe: patch: trf_blocks.0.att offers no heads"));
}
