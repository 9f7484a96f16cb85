// What the page of heed explain is given. explain_check.py looks at it in a browser. What the
// command refuses: tests/transcripts/explain.txt.
#include "tools/extras/explain/explain.h"

#include <nlohmann/json.hpp>

#include "layers/causal_attention.h"
#include "layers/embedding.h"
#include "layers/module/evaluation_mode.h"
#include "layers/rms_norm.h"
#include "tests/support/layer_cases.h"
#include "tools/extras/explain/choices.h"
#include "tools/extras/explain/page_data.h"
#include "tools/extras/probe/tests/small_induction.h"
#include "tools/extras/report/parts.h"

using namespace heed;
using namespace heed::testing;
using namespace heed::explain;
using PageJson = nlohmann::ordered_json;

namespace {

std::unique_ptr<Module> gpt_with(const std::string& more) {
  auto model = layer_of(
      "{type: gpt, vocab_size: 8, context_length: 12, d_model: 12, num_heads: 3, num_layers: 2" +
      more + "}");
  perturb_parameters(*model);
  model->train(false);
  return model;
}

// The data of a page.
PageJson page_data(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">\n";
  const size_t from = page.find(begin) + begin.size();
  return PageJson::parse(page.substr(from, page.find("\n</script>", from) - from));
}

PageJson explained(Module& model, const Input& in) {
  return page_data(explain_page(model, *small_induction(), in, {.run = "r", .tokens = 3}));
}

// A model of one's own: two blocks of attention alone, whose layers have names of their own.
class OwnBlock final : public Module {
 public:
  OwnBlock()
      : attention_(this, "look", CausalAttention::Config{8, 8, 12}),
        norm_(this, "before", RmsNorm::Config{.d_model = 8}) {}
  std::vector<Branch> branches() const override { return {{&*norm_, &*attention_, true}}; }

 protected:
  Tensor forward(const Input& in) override { return in.x + attention_(norm_(in.x)); }

 private:
  Child<CausalAttention> attention_;
  Child<RmsNorm> norm_;
};

class OwnModel final : public Module {
 public:
  OwnModel()
      : tokens_(this, "tokens", Embedding::Config{.vocab_size = 8, .d_model = 8}),
        low_(this, "low", std::make_unique<OwnBlock>()),
        high_(this, "high", std::make_unique<OwnBlock>()),
        norm_(this, "norm", RmsNorm::Config{.d_model = 8}),
        answer_(this, "answer", Linear::Config{.d_in = 8, .d_out = 8}) {}
  Signature signature() const override {
    return {.ids = true, .vocab_size = 8, .longest = 12, .causal = true};
  }

 protected:
  Tensor forward(const Input& in) override { return answer_(norm_(high_(low_(tokens_(in.ids))))); }

 private:
  Child<Embedding> tokens_;
  Child<OwnBlock> low_, high_;
  Child<RmsNorm> norm_;
  Child<Linear> answer_;
};

std::vector<std::string> kinds_of(const PageJson& data, const std::string& section) {
  std::vector<std::string> kinds;
  for (const PageJson& part : data.at("sections")) {
    for (const PageJson& step : part.at("id") == section ? part.at("steps") : PageJson::array()) {
      kinds.push_back(step.at("kind").get<std::string>());
    }
  }
  return kinds;
}

}  // namespace

TEST_CASE("explain: matrices are kept less exactly, the largest first, until the page fits") {
  PageData page;
  page.begin_section("s", "S");
  page.matrix("large", Array::full({40, 40}, 0.5f));
  page.matrix("small", Array::full({10, 10}, -2.0f));
  const auto bits_of = [&](size_t most) {
    const PageJson out = PageJson::parse(page.json(most));
    std::vector<int64_t> bits;
    for (const char* name : {"large", "small"}) {
      const PageJson& matrix = out.at("matrices").at(name);
      bits.push_back(!matrix.contains("data") ? 0 : matrix.value("bits", int64_t{32}));
    }
    return bits;
  };
  const auto exact = [](size_t numbers) { return (numbers * sizeof(real) + 2) / 3 * 4; };
  const size_t large = exact(40 * 40), small = exact(10 * 10);
  CHECK(bits_of(large + small + 1000) == std::vector<int64_t>{32, 32});
  CHECK(bits_of(large + small) == std::vector<int64_t>{16, 32});
  CHECK(bits_of(1000) == std::vector<int64_t>{0, 16});
  CHECK(bits_of(0) == std::vector<int64_t>{0, 0});
}

TEST_CASE("explain: the greedy continuation and the likeliest others, with the logits' own bits") {
  const auto model = gpt_with("");
  const Input in = tokens({1, 2, 3});
  const auto choices = likeliest_choices(*model, in, {.tokens = 4, .sequences = 9, .context = 12});
  REQUIRE(choices.size() == 9);
  const EvaluationMode evaluating(*model);
  std::vector<std::vector<int32_t>> sequences;
  for (size_t i = 0; i < choices.size(); ++i) {
    const explain::Choice& choice = choices[i];
    REQUIRE(choice.parent < static_cast<int64_t>(i));
    std::vector<int32_t> ids{1, 2, 3};
    if (choice.parent >= 0) {
      ids = sequences[static_cast<size_t>(choice.parent)];
      ids.push_back(choice.token);
    }
    CHECK(std::count(sequences.begin(), sequences.end(), ids) == 0);
    CHECK(ids.size() <= 7);
    const Array logits = (*model)(tokens(ids)).value();
    const auto last = logits.span().last(8);
    CHECK(std::equal(last.begin(), last.end(), choice.logits.data()));
    if (i < 4) {  // the greedy ones come first
      CHECK(choices[i + 1].parent == static_cast<int64_t>(i));
      CHECK(choices[i + 1].token == std::max_element(last.begin(), last.end()) - last.begin());
    }
    sequences.push_back(std::move(ids));
  }
  const int32_t end = choices[1].token;
  const auto ended = likeliest_choices(*model, in, {.tokens = 4, .context = 12, .end = end});
  CHECK(ended.size() == 2);
  // Only the last `context` tokens are read.
  CHECK(likeliest_choices(*model, in, {.tokens = 12, .context = 4}).size() == 13);
}

TEST_CASE("explain: every step of a block, whatever the attention is called") {
  const std::vector<std::string> attention{"scores", "scaled", "masked", "softmax",
                                           "mix",    "concat", "linear"};
  const std::vector<std::string> rest{"sum", "norm", "linear", "activation", "linear", "sum"};
  const auto joined = [](std::vector<std::string> all, const std::vector<std::string>& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const std::vector<std::string> begin{"norm", "linear", "linear", "linear"};
  const std::vector<std::string> usual = joined(joined(begin, attention), rest);
  const Input in = tokens({1, 2, 3, 4});
  for (const char* more : {"", ", attention: {packed: true}", ", num_kv_heads: 1"}) {
    CAPTURE(more);
    CHECK(kinds_of(explained(*gpt_with(more), in), "trf_blocks.1") == usual);
  }
  const PageJson rope = explained(*gpt_with(", position: rope"), in);
  CHECK(kinds_of(rope, "trf_blocks.0") ==
        joined(joined(joined(begin, {"rotated", "rotated"}), attention), rest));
  CHECK(kinds_of(rope, "embeddings") == std::vector<std::string>{"embedding"});
  const PageJson wrapper =
      explained(*gpt_with(", attention: {type: multi_head_attention_wrapper}"), in);
  CHECK(kinds_of(wrapper, "trf_blocks.0") ==
        joined(joined(begin, {"scores", "scaled", "masked", "softmax", "mix", "concat"}), rest));
  // No layer tells of a mask or of sqrt(d) here; the scale of a config is told, too.
  const PageJson simple = explained(*gpt_with(", attention: {type: simple_attention}"), in);
  CHECK(kinds_of(simple, "trf_blocks.0") ==
        joined({"norm", "scores", "scaled", "softmax", "mix"}, rest));
  const PageJson scaled = explained(*gpt_with(", attention: {scale: 0.5}"), in);
  CHECK(kinds_of(scaled, "trf_blocks.0") == usual);
  CHECK(scaled.at("sections").at(1).at("steps").at(5).at("scale") == 0.5);
  // One that keeps no weights: its output alone.
  const PageJson sums = explained(*gpt_with(", attention: {type: linear_attention}"), in);
  CHECK(kinds_of(sums, "trf_blocks.0") == joined({"norm", "given"}, rest));
  // Weights that no step here leads to, even where they are nearly those of softmax.
  for (const char* more :
       {", attention: {window: 2}", ", attention: {soft_cap: 100}",
        ", attention: {qk_norm: rms_norm}", ", attention: {alibi: true}, position: none",
        ", attention: {attention_weights: sum}"}) {
    CAPTURE(more);
    CHECK(kinds_of(explained(*gpt_with(more), in), "trf_blocks.0") ==
          joined({"norm", "given", "given"}, rest));
  }
  const PageJson squared = explained(*gpt_with(", activation: relu2"), in);
  CHECK(kinds_of(squared, "trf_blocks.1") == usual);
  const PageJson gated = explained(*gpt_with(", activation: swiglu"), in);
  CHECK(kinds_of(gated, "trf_blocks.0") ==
        joined(joined(begin, attention),
               {"sum", "norm", "linear", "activation", "linear", "times", "linear", "sum"}));
  const PageJson none = explained(*gpt_with(", feed_forward: none"), in);
  CHECK(kinds_of(none, "trf_blocks.0") == joined(joined(begin, attention), {"sum"}));
}

TEST_CASE("explain: branches side by side read the same x; a part of each head turns") {
  const PageJson data = explained(
      *gpt_with(", position: rope, rotary_fraction: 0.5, parallel_residual: true, qkv_bias: true"),
      tokens({1, 2, 3, 4}));
  std::map<std::string, PageJson> steps;
  for (const PageJson& section : data.at("sections")) {
    for (const PageJson& step : section.at("steps")) steps[step.at("id").get<std::string>()] = step;
  }
  const auto reads = [&](const std::string& id) {
    return steps.at(id).at("of").get<std::vector<std::string>>();
  };
  const std::string block = "trf_blocks.1.", x = "trf_blocks.0.shortcut2";
  CHECK(reads(block + "norm1") == std::vector<std::string>{x});
  CHECK(reads(block + "norm2") == std::vector<std::string>{x});
  CHECK(reads(block + "shortcut1") == std::vector<std::string>{x, block + "att.out_proj"});
  CHECK(reads(block + "shortcut2") ==
        std::vector<std::string>{block + "shortcut1", block + "ff.layers.2"});
  CHECK(steps.at("trf_blocks.0.norm2").at("of").at(0) == "tok_emb");
  const PageJson& turned = steps.at(block + "att.W_query.rotated");
  CHECK(turned.at("width") == 4);
  CHECK(turned.at("angles") == PageJson::array({1.0}));  // 2 of the 4 elements turn, as one pair
  CHECK(steps.contains(block + "att.attn_scores"));      // and these give the weights
  const PageJson slower =
      explained(*gpt_with(", position: rope, attention: {rope_scaling: {factor: 8, "
                          "original_max_position_embeddings: 2}}"),
                tokens({1, 2, 3, 4}));
  const PageJson& scaled = slower.at("sections").at(1).at("steps").at(4);
  CHECK(scaled.at("kind") == "rotated");
  CHECK(scaled.at("angles").at(0) == 0.125);
}

TEST_CASE("explain: the lens next to each block, also of a classifier; what parts add") {
  const auto model = gpt_with("");
  const PageJson gpt = explained(*model, tokens({1, 2, 3}));
  REQUIRE(gpt.at("sections").size() == 4);
  const PageJson& last = gpt.at("sections").at(2).at("lens");
  REQUIRE(last.size() == 3);
  const EvaluationMode evaluating(*model);
  const Array logits = (*model)(tokens({1, 2, 3})).value();
  const auto row = logits.span().last(8);
  const auto best = std::max_element(row.begin(), row.end()) - row.begin();
  CHECK(last.at(2).at("token") == std::to_string(best));
  CHECK(!last.at(2).contains("rank"));
  CHECK(last.at(0).contains("rank"));
  const PageJson& added = gpt.at("added");
  CHECK(added.at("answer") == std::to_string(best));
  double sum = 0;
  for (const PageJson& part : added.at("parts")) sum += part.at("value").get<double>();
  CHECK(sum == doctest::Approx(static_cast<double>(row[static_cast<size_t>(best)])).epsilon(1e-5));

  const auto classifier = layer_of(
      "{type: classifier, vocab_size: 8, num_classes: 3, context_length: 6, d_model: 12, "
      "num_heads: 2, num_layers: 1}");
  perturb_parameters(*classifier);
  const PageJson classes = explained(*classifier, tokens({1, 2}));
  REQUIRE(classes.at("sections").size() == 3);
  CHECK(classes.at("sections").at(1).at("lens").size() == 1);
  CHECK(!classes.at("sections").at(2).contains("lens"));
  CHECK(classes.at("choices").size() == 1);
  CHECK(classes.at("added").is_null());
  const auto bag = layer_of(
      "{type: classifier, vocab_size: 8, num_classes: 3, context_length: 6, d_model: 12, "
      "num_layers: 0, position: none}");
  CHECK(explained(*bag, tokens({1, 2})).at("sections").size() == 2);
}

TEST_CASE("explain: the patches of a picture, with and without a class token") {
  if (layer_registry().types().find("encoder") == nullptr) return;
  const std::string encoder =
      "{type: encoder, patch_size: 2, image_height: 2, image_width: 4, channels: 2, num_classes: "
      "3, "
      "context_length: 3, d_model: 4, num_heads: 2, num_layers: 1";
  const Input in(Tensor(values({1, 2, 2, 4}, 0, 1)));
  const auto model = layer_of(encoder + "}");
  const PageJson data = explained(*model, in);
  CHECK(kinds_of(data, "embeddings") ==
        std::vector<std::string>{"patches", "linear", "positions", "sum"});
  CHECK(data.at("sections").at(0).at("steps").at(1).at("rows") == "patches");
  CHECK(data.at("rows").at("patches") == PageJson{"0,0", "0,1"});
  CHECK(data.at("picture").at("pixels").size() == 8);
  CHECK(data.at("model") == "classifier");
  CHECK(data.at("choices").size() == 1);
  CHECK(data.at("sections").at(1).at("lens").size() == 1);
  CHECK(kinds_of(data, "end") == std::vector<std::string>{"norm", "mean", "linear"});
  const auto marked = layer_of(encoder + ", class_token: true, pool: first}");
  const PageJson with_token = explained(*marked, in);
  CHECK(kinds_of(with_token, "embeddings") ==
        std::vector<std::string>{"patches", "linear", "given", "positions", "sum"});
  CHECK(with_token.at("rows").at("tokens") == PageJson{"class", "0,0", "0,1"});
  CHECK(with_token.at("sections").at(1).at("steps").at(0).at("rows") == "tokens");
  CHECK(with_token.at("picture").at("class_token") == true);
}

TEST_CASE("explain: a model of one's own as any other, its lens and its blocks") {
  OwnModel own;
  perturb_parameters(own);
  const PageJson data = explained(own, tokens({1, 2, 3}));
  std::vector<std::string> titles;
  for (const PageJson& section : data.at("sections")) {
    titles.push_back(section.at("title").get<std::string>());
    CHECK(section.contains("lens") == (titles.back() != "Logits"));
  }
  CHECK(titles == std::vector<std::string>{"Embeddings", "Block low", "Block high", "Logits"});
  const std::vector<std::string> block{"rms_norm", "linear", "linear",  "linear", "scores",
                                       "scaled",   "masked", "softmax", "mix",    "sum"};
  CHECK(kinds_of(data, "high") == block);
  CHECK(kinds_of(data, "end") == std::vector<std::string>{"rms_norm", "linear"});
  REQUIRE(probe::stacks_of(own, "test").size() == 1);
  CHECK(probe::stacks_of(own, "test")[0].size() == 2);

  const auto last = layer_of(
      "{type: gpt_classifier, vocab_size: 8, num_classes: 3, context_length: 6, d_model: 12, "
      "num_heads: 2, num_layers: 1}");
  const PageJson classes = explained(*last, tokens({1, 2}));
  CHECK(classes.at("type") == "gpt_classifier");
  CHECK(kinds_of(classes, "end") == std::vector<std::string>{"norm", "last", "linear"});
  const auto chain = layer_of(
      "{type: sequential, layers: [{type: embedding, vocab_size: 8, d_model: 12}, {type: linear, "
      "d_in: 12, d_out: 8}]}");
  CHECK(kinds_of(explained(*chain, tokens({1, 2})), "embeddings") ==
        std::vector<std::string>{"embedding", "linear"});
}

TEST_CASE("explain: another kind of model is refused") {
  const auto other = layer_of(
      "{type: rnn_encoder_decoder, source_vocab_size: 8, vocab_size: 8, source_length: 4, "
      "context_length: 4, d_model: 4}");
  Input two = tokens({1, 2});
  two.source_ids = two.ids;
  CHECK(message_of<ConfigError>([&] {
          explained(*other, two);
        }).starts_with("heed explain: expected a gpt, an encoder_decoder or a classifier"));
}
