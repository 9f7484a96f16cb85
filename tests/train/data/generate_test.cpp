#include "train/data/generate.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "autograd/array/storage.h"
#include "autograd/random/streams.h"
#include "layers/module/registry.h"
#include "tests/support/near.h"
#include "train/data/text_stream.h"
#include "train/tokenizers/tokenizer.h"

using namespace heed;
using namespace heed::testing;

namespace {

std::vector<real> logs(const std::vector<double>& probabilities) {
  std::vector<real> logits;
  for (const double p : probabilities) logits.push_back(static_cast<real>(std::log(p)));
  return logits;
}

// How often each id is chosen, over evenly spaced u.
std::vector<int> counts(const std::vector<real>& logits, const SamplingOptions& options) {
  std::vector<int> found(logits.size());
  for (int i = 0; i < 1000; ++i) {
    ++found[static_cast<size_t>(choose_token(sampling_weights(logits, options), (i + 0.5) / 1000))];
  }
  return found;
}

std::unique_ptr<Module> small_gpt(double dropout = 0) {
  manual_seed(11);
  return make_layer("gpt", ConfigNode::map({{"vocab_size", 20},
                                            {"context_length", 6},
                                            {"d_model", 8},
                                            {"num_heads", 2},
                                            {"num_layers", 2},
                                            {"dropout", dropout}}));
}

}  // namespace

TEST_CASE("generate: ids come up as often as they are likely") {
  const std::vector<real> logits = logs({0.1, 0.4, 0.2, 0.3});
  struct Row {
    SamplingOptions options;
    std::vector<int> counts;
  };
  for (const Row& row : std::vector<Row>{
           {{}, {100, 400, 200, 300}},
           {{.temperature = 0}, {0, 1000, 0, 0}},
           {{.top_k = 1}, {0, 1000, 0, 0}},
           {{.top_k = 2}, {0, 571, 0, 429}},
           {{.top_k = 100}, {100, 400, 200, 300}},
           {{.top_p = 0.3}, {0, 1000, 0, 0}},
           {{.top_p = 0.65}, {0, 571, 0, 429}},
           {{.top_p = 0.75}, {0, 444, 223, 333}},
           {{.top_p = 1}, {100, 400, 200, 300}},
           // k = 3 leaves 0.4, 0.3, 0.2, in all 0.9. The first two reach p: 0.7 / 0.9 > 0.75.
           {{.top_k = 3, .top_p = 0.75}, {0, 571, 0, 429}},
           // Temperature 0.5 squares the probabilities: 1, 16, 4, 9, of 30.
           {{.temperature = 0.5}, {33, 534, 133, 300}},
           {{.temperature = 1e-300}, {0, 1000, 0, 0}}}) {
    CHECK(counts(logits, row.options) == row.counts);
  }
}

TEST_CASE("generate: equal logits, hidden ones, and the ends of u") {
  const std::vector<real> equal(4, real{0.5});
  CHECK(counts(equal, {.top_k = 2}) == std::vector<int>{500, 500, 0, 0});
  CHECK(choose_token(sampling_weights(equal, {.temperature = 0}), 0.9) == 0);
  const real hidden = -std::numeric_limits<real>::infinity();
  const std::vector<real> some = {hidden, 1, hidden};
  CHECK(choose_token(sampling_weights(some, {}), 0) == 1);
  CHECK(choose_token(sampling_weights(some, {}), 1 - 0x1p-53) == 1);
  const std::vector<real> nan = {0, std::numeric_limits<real>::quiet_NaN()};
  CHECK_THROWS_AS(choose_token(sampling_weights(nan, {}), 0.5), DivergedError);
  CHECK_THROWS_AS(choose_token(sampling_weights(std::vector<real>{0, -hidden}, {}), 0.5),
                  DivergedError);
  CHECK_THROWS_AS(choose_token(sampling_weights(std::vector<real>{hidden}, {}), 0.5),
                  DivergedError);
}

TEST_CASE("generate: the likeliest token of the last context_length, one after the other") {
  const auto model = small_gpt();
  const std::vector<int32_t> prompt = {1, 2, 3, 4};
  std::vector<int32_t> told;
  const std::vector<int32_t> ids =
      generate(*model, prompt, 10, {.temperature = 0}, 6, [&](int32_t id) { told.push_back(id); });
  CHECK(told == ids);
  REQUIRE(ids.size() == 10);
  std::vector<int32_t> all = prompt;
  for (const int32_t id : ids) {
    const auto seen = std::min<size_t>(6, all.size());
    const Ids window =
        Ids::from({1, static_cast<int64_t>(seen)}, std::span<const int32_t>(all).last(seen));
    const Array logits = (*model)(window).value();
    const real* row = logits.data() + logits.size() - 20;
    REQUIRE(id == std::max_element(row, row + 20) - row);
    all.push_back(id);
  }
}

TEST_CASE("generate: with windows a model reads on, in constant memory, as without a cache") {
  const auto made = [](int64_t context_length, const char* position, ConfigNode attention) {
    manual_seed(11);
    return make_layer("gpt", ConfigNode::map({{"vocab_size", 20},
                                              {"context_length", context_length},
                                              {"d_model", 16},
                                              {"num_heads", 2},
                                              {"num_layers", 3},
                                              {"position", position},
                                              {"attention", std::move(attention)}}));
  };
  const auto windowed = [](ConfigNode more) {
    more.set("window", 5);
    more.set("type", "multi_head_attention");
    return more;
  };
  std::vector<int32_t> prompt(30);
  for (size_t i = 0; i < prompt.size(); ++i) prompt[i] = static_cast<int32_t>(i * i % 19);
  int64_t streaming = 0;
  for (const auto& [position, attention] : std::vector<std::pair<const char*, ConfigNode>>{
           {"rope", windowed(ConfigNode::map({{"sinks", 2}}))},
           {"rope", windowed(ConfigNode::map({{"packed", true}}))},
           {"rope", windowed(ConfigNode::map({{"num_kv_heads", 1}, {"qk_norm", "rms_norm"}}))},
           {"none", windowed(ConfigNode::map({{"alibi", true}}))},
           {"none", windowed(ConfigNode::map({{"alibi", true}, {"sinks", 1}}))},
           {"learned", windowed(ConfigNode::map({{"sinks", 2}}))},
           {"rope", ConfigNode::map({{"type", "multi_head_attention"}})}}) {
    const auto model = made(12, position, attention);
    if (!model->signature().unbounded) continue;
    ++streaming;
    const auto longer = made(200, position, attention);  // the same weights
    for (const size_t length : {size_t{1}, size_t{12}, prompt.size()}) {
      std::vector<int32_t> all(prompt.begin(), prompt.begin() + static_cast<ptrdiff_t>(length));
      std::vector<int64_t> live;
      const std::vector<int32_t> ids =
          generate(*model, all, 120, {.temperature = 0}, 12,
                   [&](int32_t) { live.push_back(pool::stats().live_bytes); });
      for (const int32_t id : ids) {
        const NoGrad off;
        REQUIRE(id == likeliest((*longer)(Ids::from({1, std::ssize(all)}, all)).value()));
        all.push_back(id);
      }
      CHECK(live[119] == live[20]);
    }
  }
  CHECK(streaming == 4);
}

TEST_CASE("generate: samples made in step are those made alone") {
  for (const ConfigNode& more : std::vector<ConfigNode>{
           {},
           ConfigNode::map({{"position", "rope"}, {"num_kv_heads", 1}}),
           ConfigNode::map({{"attention", ConfigNode::map({{"type", "multi_head_attention"},
                                                           {"packed", true},
                                                           {"alibi", true},
                                                           {"window", 3}})},
                            {"position", "none"}})}) {
    manual_seed(11);
    ConfigNode config = ConfigNode::map({{"vocab_size", 20},
                                         {"context_length", 12},
                                         {"d_model", 16},
                                         {"num_heads", 2},
                                         {"num_layers", 2}});
    for (const ConfigNode& field : more.children()) config.set(field.key(), field);
    const auto model = make_layer("gpt", config);
    CHECK(model->signature().cache_batch);
    std::vector<SamplingOptions> options(5);
    for (size_t k = 0; k < options.size(); ++k) {
      options[k] = {.seed = k, .repetition_penalty = 1.1, .ends = {static_cast<int64_t>(k)}};
    }
    std::vector<std::vector<int32_t>> each(options.size());
    const auto all = generate(
        *model, {5, 3}, 30, options, 12, [&](size_t k, int32_t id) { each[k].push_back(id); },
        [&](size_t k) { return k == 3 && each[k].size() == 4; });
    CHECK(all == each);
    for (size_t k = 0; k < options.size(); ++k) {
      CHECK(all[k] == generate(*model, {5, 3}, k == 3 ? 4 : 30, options[k], 12));
    }
  }
}

TEST_CASE("generate: the seed alone decides, and nothing else moves") {
  const auto model = small_gpt(0.5);
  const StreamsState before = streams().state();
  const std::vector<int32_t> first = generate(*model, {5}, 30, {.seed = 1}, 6);
  CHECK(model->training());
  CHECK(streams().state() == before);
  CHECK(NoGrad::recording());
  CHECK(generate(*model, {5}, 30, {.seed = 1}, 6) == first);
  CHECK(generate(*model, {5}, 30, {.seed = 2}, 6) != first);
  CHECK(generate(*model, {5}, 10, {.seed = 1}, 6) ==
        std::vector<int32_t>(first.begin(), first.begin() + 10));
  model->train(false);
  CHECK(generate(*model, {5}, 30, {.seed = 1}, 6) == first);
  CHECK_FALSE(model->training());
  CHECK(generate(*model, {5}, 0, {}, 6).empty());
}

TEST_CASE("generate: wrong options") {
  const auto model = small_gpt();
  CHECK_THROWS_AS(generate(*model, {}, 3, {}, 6), ConfigError);
  for (const SamplingOptions& wrong :
       std::vector<SamplingOptions>{{.temperature = -1},
                                    {.top_k = 0},
                                    {.top_p = 0.0},
                                    {.top_p = 1.5},
                                    {.min_p = -0.1},
                                    {.min_p = 1.1},
                                    {.repetition_penalty = 0},
                                    {.repetition_penalty = 1e-40},
                                    {.repetition_penalty = INFINITY}}) {
    CHECK_THROWS_AS(generate(*model, {1}, 3, wrong, 6), ConfigError);
  }
  CHECK(model->training());
}

TEST_CASE("generate: probabilities are those of transformers") {
  std::ifstream file(std::string(HEED_SOURCE_DIR) + "/tests/golden/sampling.json");
  const auto golden = nlohmann::json::parse(file);
  double worst = 0;
  for (const auto& c : golden["cases"]) {
    const auto option = [&](const char* name) {
      return c.contains(name) ? std::optional(c[name].get<double>()) : std::nullopt;
    };
    SamplingOptions options{.temperature = option("temperature").value_or(1),
                            .top_p = option("top_p"),
                            .min_p = option("min_p"),
                            .repetition_penalty = option("repetition_penalty").value_or(1)};
    if (c.contains("top_k")) options.top_k = c["top_k"].get<int64_t>();
    const std::vector<double> weights = sampling_weights(
        c["logits"].get<std::vector<real>>(), options, c["before"].get<std::vector<int32_t>>());
    const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
    REQUIRE(weights.size() == c["probabilities"].size());
    for (size_t id = 0; id < weights.size(); ++id) {
      worst = std::max(worst, std::abs(weights[id] / all - c["probabilities"][id].get<double>()));
    }
  }
  CHECK(golden["cases"].size() == 13);
  CHECK(worst < (is_float64 ? 1e-14 : 1e-7));
}

TEST_CASE("generate: the penalty is for the prompt and for what was written") {
  const auto model = small_gpt();
  std::vector<int32_t> seen{1, 2};
  const SamplingOptions options{
      .temperature = 0, .repetition_penalty = 1e6, .watch = [&](const TokenChoice& choice) {
        CHECK(choice.logits.size() == 20);
        CHECK(choice.weights[static_cast<size_t>(choice.id)] == 1);
        seen.push_back(choice.id);
      }};
  const std::vector<int32_t> ids = generate(*model, {1, 2}, 4, options, 6);
  CHECK(seen.size() == 6);
  CHECK(std::vector<int32_t>(seen.begin() + 2, seen.end()) == ids);
  std::sort(seen.begin(), seen.end());
  CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());  // none twice
}

TEST_CASE("generate: a stop string ends a text wherever the pieces are cut") {
  struct Case {
    std::vector<std::string> stops;
    std::string text, shown;
    bool reached;
  };
  for (const Case& c : std::vector<Case>{{{"END"}, "one ENDless", "one ", true},
                                         {{"END"}, "one EN", "one EN", false},
                                         {{"END"}, "EENEND", "EEN", true},
                                         {{"aab"}, "aaaab", "aa", true},
                                         {{"abc", "b"}, "xabc", "xa", true},
                                         {{"\n\n", "."}, "a\nb.\n\n", "a\nb", true},
                                         {{"€"}, "1 € 2", "1 ", true},
                                         {{"€"}, "1 ₭", "1 ₭", false},
                                         {{}, "all of it", "all of it", false}}) {
    for (size_t size = 1; size <= c.text.size(); ++size) {
      StopStrings stops{c.stops};
      std::string shown;
      for (size_t at = 0; at < c.text.size(); at += size) {
        shown += stops.push(c.text.substr(at, size));
        CHECK(std::string_view(c.text).starts_with(shown));
      }
      CHECK(stops.push("") == "");
      CHECK(shown + (stops.reached ? "" : stops.waiting) == c.shown);
      CHECK(stops.reached == c.reached);
    }
  }
}

TEST_CASE("generate: bytes are shown as whole characters") {
  const ByteTokenizer tokenizer;
  TextStream stream(tokenizer);
  CHECK(stream.push('a') == "a");
  CHECK(stream.push(0xE2) == "");
  CHECK(stream.push(0x82) == "");
  CHECK(stream.push(0xAC) == "€");
  CHECK(stream.push(0xFF) == "\uFFFD");
  CHECK(stream.push(0xC3) == "");
  CHECK(stream.push('b') ==
        "\uFFFD"
        "b");
  CHECK(stream.push(0xF0) == "");
  CHECK(stream.finish() == "\uFFFD");
  CHECK(stream.finish() == "");
}

TEST_CASE("generate: ends before the next token when it is told to") {
  const std::unique_ptr<Module> model = small_gpt();
  const std::vector<int32_t> whole = generate(*model, {1, 2}, 8, {}, 6);
  int asked = 0;
  const std::vector<int32_t> part =
      generate(*model, {1, 2}, 8, {}, 6, {}, [&] { return ++asked > 3; });
  CHECK(part == std::vector<int32_t>(whole.begin(), whole.begin() + 3));
  CHECK(asked == 4);
}
