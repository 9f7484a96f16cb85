#include "train/data/generate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "autograd/random/streams.h"
#include "layers/module/cache.h"
#include "layers/module/evaluation_mode.h"

namespace heed {

namespace {

void check(const SamplingOptions& options) {
  require<ConfigError>(options.temperature >= 0 && std::isfinite(options.temperature),
                       "temperature: expected a number of at least 0, got ", options.temperature);
  require<ConfigError>(!options.top_k || *options.top_k >= 1,
                       "top_k: expected a whole number of at least 1, got ",
                       options.top_k.value_or(0));
  require<ConfigError>(!options.top_p || (*options.top_p > 0 && *options.top_p <= 1),
                       "top_p: expected a number above 0 and at most 1, got ",
                       options.top_p.value_or(0));
}

// Sets all weights to 0 except the most likely ones that top_k and top_p keep.
void keep_likeliest(std::vector<double>& weights, const SamplingOptions& options) {
  std::vector<size_t> ranked(weights.size());
  std::iota(ranked.begin(), ranked.end(), size_t{0});
  std::stable_sort(ranked.begin(), ranked.end(),
                   [&](size_t a, size_t b) { return weights[a] > weights[b]; });
  size_t kept = ranked.size();
  if (options.top_k) {
    kept = std::min(kept, static_cast<size_t>(*options.top_k));
  }
  if (options.top_p) {
    double sum = 0;
    for (size_t i = 0; i < kept; ++i) {
      sum += weights[ranked[i]];
    }
    double reached = 0;
    for (size_t i = 0; i < kept; ++i) {
      reached += weights[ranked[i]];
      if (reached >= *options.top_p * sum) {
        kept = i + 1;
      }
    }
  }
  for (size_t i = kept; i < ranked.size(); ++i) {
    weights[ranked[i]] = 0;
  }
}

// Runs the model over the last context_length tokens. Uses the cache where possible.
class Reader {
 public:
  Reader(Module& model, int64_t context_length)
      : model_(model), context_length_(context_length), cache_(context_length) {}

  // Logits (1, t, V). The last row predicts the token after `ids`.
  Array logits(const std::vector<int32_t>& ids) {
    const auto length = static_cast<int64_t>(ids.size());
    // Once the window slides, all positions change, so the whole window is processed again.
    int64_t first = std::max<int64_t>(0, length - context_length_);
    const bool cached = model_.signature().cache && first == 0;
    if (cached) {
      first = cache_.length();
    }
    Input in(Ids::from({1, length - first}, std::span(ids).subspan(static_cast<size_t>(first))));
    in.cache = cached ? &cache_ : nullptr;
    Array logits = model_(in).value();
    cache_.advance(cached ? length - first : 0);
    return logits;
  }

 private:
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

int32_t likeliest(const Array& logits) {
  return likeliest(logits.span().last(static_cast<size_t>(logits.dim(-1))));
}

int32_t choose_token(std::span<const real> logits, const SamplingOptions& options, double u) {
  const int32_t top = likeliest(logits);
  if (options.temperature == 0 || options.top_k == 1) {
    return top;
  }
  std::vector<double> weights(logits.size());  // exp((logit - largest) / temperature)
  const auto largest = static_cast<double>(logits[static_cast<size_t>(top)]);
  std::transform(logits.begin(), logits.end(), weights.begin(), [&](real logit) {
    return std::exp((static_cast<double>(logit) - largest) / options.temperature);
  });
  if (options.top_k || options.top_p) {
    keep_likeliest(weights, options);
  }
  const double aim = u * std::accumulate(weights.begin(), weights.end(), 0.0);
  double reached = 0;
  size_t chosen = 0;
  for (size_t id = 0; id < weights.size(); ++id) {
    if (weights[id] > 0) {
      chosen = id;
      reached += weights[id];
      if (reached > aim) {
        break;
      }
    }
  }
  return static_cast<int32_t>(chosen);
}

std::vector<int32_t> generate(Module& model, const std::vector<int32_t>& prompt, int64_t tokens,
                              const SamplingOptions& options, int64_t context_length,
                              const std::function<void(int32_t)>& each,
                              const std::function<bool()>& stop) {
  check(options);
  require<ConfigError>(!prompt.empty(),
                       "generate: expected a prompt of at least one token, got none");
  require<ConfigError>(context_length >= 1,
                       "generate: expected a context_length of at least 1, got ", context_length);
  const EvaluationMode mode(model);
  Generator generator(options.seed);
  Reader reader(model, context_length);
  std::vector<int32_t> ids = prompt;
  for (int64_t i = 0; i < tokens && !(stop && stop()); ++i) {
    const Array logits = reader.logits(ids);
    const auto width = static_cast<size_t>(logits.dim(-1));
    const int32_t id = choose_token(logits.span().last(width), options, generator.u53());
    ids.push_back(id);
    if (each) {
      each(id);
    }
  }
  return {ids.begin() + static_cast<ptrdiff_t>(prompt.size()), ids.end()};
}

}  // namespace heed
