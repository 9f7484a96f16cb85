#include "train/data/generate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "autograd/base/elementary.h"
#include "autograd/random/streams.h"
#include "layers/module/cache.h"
#include "layers/module/evaluation_mode.h"

namespace heed {

namespace {

void check(const SamplingOptions& options) {
  const auto expect = [](bool holds, const char* what, auto got) {
    require<ConfigError>(holds, what, ", got ", got);
  };
  const double top_p = options.top_p.value_or(1), min_p = options.min_p.value_or(0);
  expect(options.temperature >= 0 && std::isfinite(options.temperature),
         "temperature: expected a number of at least 0", options.temperature);
  expect(options.top_k.value_or(1) >= 1, "top_k: expected a whole number of at least 1",
         options.top_k.value_or(1));
  expect(top_p > 0 && top_p <= 1, "top_p: expected a number above 0 and at most 1", top_p);
  expect(min_p >= 0 && min_p <= 1, "min_p: expected a number from 0 to 1", min_p);
  expect(options.repetition_penalty >= 1e-6 && options.repetition_penalty <= 1e6,
         "repetition_penalty: expected a number from 1e-06 to 1e+06", options.repetition_penalty);
}

// Sets all weights to 0 except the most likely ones that top_k and top_p keep.
void keep_likeliest(std::vector<double>& weights, const SamplingOptions& options) {
  const std::vector<size_t> ranked = ranking(weights);
  const auto end =
      ranked.begin() + std::min(std::ssize(ranked), options.top_k.value_or(std::ssize(ranked)));
  const double aim = options.top_p.value_or(INFINITY) *
                     std::accumulate(ranked.begin(), end, 0.0,
                                     [&](double sum, size_t i) { return sum + weights[i]; });
  auto i = ranked.begin();
  for (double reached = 0; i < end && reached < aim; ++i) {
    reached += weights[*i];
  }
  std::for_each(i, ranked.end(), [&](size_t left_out) { weights[left_out] = 0; });
}

using Texts = std::span<const std::vector<int32_t>>;

// Runs the model over the last context_length tokens, an unbounded one over all of them. Uses the
// cache where possible.
class Reader {
 public:
  Reader(Module& model, int64_t context_length)
      : model_(model), context_length_(context_length), cache_(context_length) {}

  // Logits (n, V) of the tokens that come after n texts of one length.
  Array logits(Texts texts) {
    // Once the context slides, all positions change, so all of it is processed again.
    const Signature model = model_.signature();
    const int64_t length = std::ssize(texts[0]);
    const bool cached = model.cache && (model.unbounded || length <= context_length_);
    const size_t together = cached ? texts.size() : 1;
    Array last;
    for (size_t k = 0; k < texts.size(); k += together) {
      const Texts some = texts.subspan(k, together);
      int64_t first = cached ? cache_.length() : std::max<int64_t>(0, length - context_length_);
      Array logits;             // (together, t, V)
      while (first < length) {  // of a prompt beyond the context, the rest goes one by one
        const int64_t tokens = std::min(length - first, cached && first > 0 ? 1 : context_length_);
        Input in(ids(some, first, tokens));
        in.cache = cached ? &cache_ : nullptr;
        logits = model_(in).value();
        cache_.advance(cached ? tokens : 0);
        first += tokens;
      }
      const int64_t rows = logits.dim(1), width = logits.dim(2);
      if (!last) last = Array::uninitialised({std::ssize(texts), width});
      for (int64_t i = 0; i < std::ssize(some); ++i) {
        std::copy_n(logits.data() + ((i + 1) * rows - 1) * width, width,
                    last.mutable_data() + (static_cast<int64_t>(k) + i) * width);
      }
    }
    return last;
  }

 private:
  // `count` tokens of each text, from `first` on.
  static Ids ids(Texts texts, int64_t first, int64_t count) {
    std::vector<int32_t> all;
    for (const std::vector<int32_t>& text : texts) {
      all.insert(all.end(), text.begin() + first, text.begin() + first + count);
    }
    return Ids::from({std::ssize(texts), count}, all);
  }

  Module& model_;
  const int64_t context_length_;
  Cache cache_;
};

}  // namespace

int32_t likeliest(std::span<const real> logits) {
  const auto largest = std::max_element(logits.begin(), logits.end());
  const bool numbers =
      std::none_of(logits.begin(), logits.end(), [](real logit) { return std::isnan(logit); });
  require<DivergedError>(numbers && std::isfinite(*largest), "generate: the model's logits are ",
                         numbers ? "infinite" : "NaN");
  return static_cast<int32_t>(largest - logits.begin());
}

std::vector<double> sampling_weights(std::span<const real> from_model,
                                     const SamplingOptions& options,
                                     std::span<const int32_t> before) {
  std::vector<real> logits(from_model.begin(), from_model.end());
  const auto penalty = static_cast<real>(options.repetition_penalty);
  for (const int32_t id : before) {  // once for each token, however often it came
    const auto at = static_cast<size_t>(id);
    if (at < logits.size()) {
      logits[at] = from_model[at] < 0 ? from_model[at] * penalty : from_model[at] / penalty;
    }
  }
  const auto top = static_cast<size_t>(likeliest(logits));
  std::vector<double> weights(logits.size());  // exp((logit - largest) / temperature)
  if (options.temperature == 0 || options.top_k == 1) {
    weights[top] = 1;
    return weights;
  }
  const auto largest = static_cast<double>(logits[top]);
  std::transform(logits.begin(), logits.end(), weights.begin(), [&](real logit) {
    return fast_exp((static_cast<double>(logit) - largest) / options.temperature);
  });
  if (options.top_k || options.top_p) {
    keep_likeliest(weights, options);
  }
  for (double& weight : weights) {
    weight = weight < options.min_p.value_or(0) ? 0 : weight;
  }
  return weights;
}

std::vector<size_t> ranking(std::span<const double> weights) {
  std::vector<size_t> ids(weights.size());
  std::iota(ids.begin(), ids.end(), size_t{0});
  std::stable_sort(ids.begin(), ids.end(),
                   [&](size_t a, size_t b) { return weights[a] > weights[b]; });
  return ids;
}

int32_t choose_token(std::span<const double> weights, double u) {
  const double aim = u * std::accumulate(weights.begin(), weights.end(), 0.0);
  double reached = 0;
  size_t chosen = 0;
  for (size_t id = 0; id < weights.size() && reached <= aim; ++id) {
    chosen = weights[id] > 0 ? id : chosen;
    reached += weights[id];
  }
  return static_cast<int32_t>(chosen);
}

namespace {

using Token = std::function<void(size_t, int32_t)>;
using Stop = std::function<bool(size_t)>;

std::vector<std::vector<int32_t>> in_step(Module& model, const std::vector<int32_t>& prompt,
                                          int64_t tokens, std::span<const SamplingOptions> options,
                                          int64_t context_length, const Token& each,
                                          const Stop& stop) {
  const EvaluationMode mode(model);
  Reader reader(model, context_length);
  std::vector<Generator> generators;
  for (const SamplingOptions& of : options) generators.emplace_back(of.seed);
  std::vector<std::vector<int32_t>> texts(options.size(), prompt), written(options.size());
  std::vector<char> ended(options.size(), false);
  for (int64_t i = 0; i < tokens; ++i) {
    for (size_t k = 0; k < ended.size(); ++k) ended[k] = ended[k] || stop(k);
    if (std::count(ended.begin(), ended.end(), false) == 0) break;
    const Array logits = reader.logits(texts);
    const auto width = static_cast<size_t>(logits.dim(1));
    for (size_t k = 0; k < ended.size(); ++k) {
      if (ended[k]) {
        texts[k].push_back(texts[k].back());  // keeps its place among the others
        continue;
      }
      const std::span<const real> last = logits.span().subspan(k * width, width);
      const std::vector<double> weights = sampling_weights(last, options[k], texts[k]);
      const int32_t id = choose_token(weights, generators[k].u53());
      texts[k].push_back(id);
      written[k].push_back(id);
      if (options[k].watch) options[k].watch({id, last, weights});
      each(k, id);
      ended[k] = options[k].is_end(id);
    }
  }
  return written;
}

}  // namespace

std::vector<std::vector<int32_t>> generate(Module& model, const std::vector<int32_t>& prompt,
                                           int64_t tokens, std::span<const SamplingOptions> options,
                                           int64_t context_length,
                                           const std::function<void(size_t, int32_t)>& each,
                                           const std::function<bool(size_t)>& stop) {
  std::for_each(options.begin(), options.end(), check);
  require<ConfigError>(!prompt.empty(),
                       "generate: expected a prompt of at least one token, got none");
  require<ConfigError>(context_length >= 1,
                       "generate: expected a context_length of at least 1, got ", context_length);
  // Each token of a prompt gets a row of logits: few long prompts at a time.
  constexpr size_t most_tokens = 1024;
  const bool together = model.signature().cache && model.signature().cache_batch;
  const size_t group = together ? std::max<size_t>(1, most_tokens / prompt.size()) : 1;
  std::vector<std::vector<int32_t>> all;
  for (size_t first = 0; first < options.size(); first += group) {
    const auto some = options.subspan(first, std::min(group, options.size() - first));
    const auto more = in_step(
        model, prompt, tokens, some, context_length,
        [&](size_t k, int32_t id) { each(first + k, id); },
        [&](size_t k) { return stop(first + k); });
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

std::vector<int32_t> generate(Module& model, const std::vector<int32_t>& prompt, int64_t tokens,
                              const SamplingOptions& options, int64_t context_length,
                              const std::function<void(int32_t)>& each,
                              const std::function<bool()>& stop) {
  return generate(
      model, prompt, tokens, {&options, 1}, context_length,
      [&](size_t, int32_t id) { each ? each(id) : void(); },
      [&](size_t) { return stop && stop(); })[0];
}

}  // namespace heed
