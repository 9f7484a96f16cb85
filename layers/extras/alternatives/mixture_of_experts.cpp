#include "layers/extras/alternatives/mixture_of_experts.h"

#include "autograd/ops/concat.h"
#include "autograd/ops/divide_by_sum.h"
#include "autograd/ops/embedding.h"
#include "autograd/ops/reshape.h"
#include "autograd/ops/softmax.h"
#include "layers/module/added_losses.h"

namespace heed {

void MixtureOfExperts::Config::fields(Fields& f) {
  FeedForward::Config::fields(f);
  f.optional("num_experts", num_experts, in_range(1, 1000), "feed-forwards to choose from");
  f.optional("top_k", top_k, at_least(1), "experts that a token goes through").also_try({1});
  f.optional("load_balancing", load_balancing, at_least(0),
             "how much it counts in training that experts get unequal shares of the tokens");
}

void MixtureOfExperts::Config::check(ConfigErrors& errors, const ConfigNode& at) const {
  if (top_k > num_experts) {
    errors.add_field(at, "top_k", "expected at most num_experts ", num_experts, ", got ", top_k);
  }
  const bool balances = load_balancing > 0 && load_balancing != Config{}.load_balancing;
  errors.has_no_effect(at, "load_balancing", balances && top_k == num_experts,
                       "where every token goes through all experts; leave it out");
}

MixtureOfExperts::MixtureOfExperts(const Config& c)
    : config(checked(c)),
      router(this, "router",
             Linear::Config{.d_in = c.d_model, .d_out = c.num_experts, .bias = false}) {
  for (int64_t e = 0; e < c.num_experts; ++e) {
    experts.emplace_back(this, "experts." + std::to_string(e), FeedForward::make(c));
  }
}

namespace {

// 1 where an expert is not among the top_k of a token, by p (N, E).
Mask left_out_by(const Array& p, int64_t top_k) {
  Mask left_out = Mask::full(p.shape(), 1);
  const int64_t experts = p.dim(1);
  parallel_rows(p.dim(0), experts * top_k,
                [=, from = p.data(), to = left_out.mutable_data()](int64_t t) {
                  const real* const of = from + t * experts;
                  uint8_t* const out = to + t * experts;
                  for (int64_t k = 0; k < top_k; ++k) {
                    int64_t best = -1;
                    for (int64_t e = 0; e < experts; ++e) {
                      if (out[e] != 0 && (best < 0 || of[e] > of[best])) best = e;
                    }
                    out[best] = 0;
                  }
                });
  return left_out;
}

// The experts' rows: tokens in order, those of expert 0 first.
//   tokens   0 1 2                left_out  0 0 1    token 0 goes to experts 0 and 1
//   tokens of experts  0 | 0 1 2 | 1 2      1 0 0    tokens 1 and 2 to experts 1 and 2
//   row                0   1 2 3   4 5      1 0 0
struct Routing {
  std::vector<Ids> tokens;  // of each expert
  Ids weights;              // (N k): of each row, the place of its weight in (N, E)
  Ids rows;                 // (N, k): of each token
};

// In a dry run, which has no numbers, all experts have alike.
Routing routing_of(const Mask& left_out, int64_t top_k) {
  const int64_t count = left_out.dim(0), experts = left_out.dim(1), all = count * top_k;
  Routing to{{}, Ids::uninitialised({all}), Ids::uninitialised({count, top_k})};
  int32_t *const weights = to.weights.mutable_data(), *const rows = to.rows.mutable_data();
  std::vector<int64_t> used(static_cast<size_t>(count));  // of a token's rows
  int32_t row = 0;
  for (int64_t e = 0; e < experts; ++e) {
    std::vector<int32_t> tokens(static_cast<size_t>(dry_run() ? (all + e) / experts : 0));
    for (int64_t t = 0; t < count && !dry_run(); ++t) {
      if (left_out.data()[t * experts + e] != 0) continue;
      tokens.push_back(static_cast<int32_t>(t));
      weights[row] = static_cast<int32_t>(t * experts + e);
      rows[t * top_k + used[static_cast<size_t>(t)]++] = row++;
    }
    Ids& of_expert = to.tokens.emplace_back(Ids::uninitialised({std::ssize(tokens)}));
    if (!dry_run()) std::copy(tokens.begin(), tokens.end(), of_expert.mutable_data());
  }
  return to;
}

// load_balancing for p (N, E), from the tokens that `kept` (N), if given, keeps.
Tensor balance_of(const Tensor& p, const Mask& left_out, const Mask& kept, double load_balancing) {
  const int64_t count = p.dim(0), experts = p.dim(1);
  Array load = Array::zeros({experts});  // f_e N
  double tokens = 0;
  for (int64_t t = 0; t < count && !dry_run(); ++t) {
    if (kept && kept.data()[t] == 0) continue;
    ++tokens;
    for (int64_t e = 0; e < experts; ++e) {
      load.mutable_data()[e] += static_cast<real>(1 - left_out.data()[t * experts + e]);
    }
  }
  const Tensor of_kept = kept ? masked_fill(p, logical_not(kept).reshaped({count, 1}), 0) : p;
  const double factor =
      load_balancing * static_cast<double>(experts) / std::max(1.0, tokens * tokens);
  return static_cast<real>(factor) * sum(sum(of_kept, 0) * Tensor(std::move(load)));
}

}  // namespace

Tensor MixtureOfExperts::forward(const Input& in) {
  const int64_t width = config.d_model, count = in.x.size() / width, top_k = config.top_k;
  const Tensor p = reshape(softmax(router(in.x)), {count, config.num_experts});
  const Tensor x = reshape(in.x, {count, width});
  const Mask left_out = left_out_by(p.value(), top_k);
  const Routing to = routing_of(left_out, top_k);

  std::vector<Tensor> outputs;  // (rows of the expert, d_model)
  for (size_t e = 0; e < experts.size(); ++e) {
    outputs.push_back(experts[e](embedding(x, to.tokens[e])));
  }
  const Tensor picked = masked_fill(p, left_out, 0);
  const Tensor weights = reshape(top_k > 1 ? divide_by_sum(picked) : picked, {p.size(), 1});
  const Tensor weighted = concat(outputs, 0) * embedding(weights, to.weights);  // (N k, d_model)

  if (training() && config.load_balancing > 0) {
    const bool padded = !in.context && in.mask.rank() == 2 && in.mask.size() == count;
    const Mask kept = padded ? in.mask.reshaped({count}) : Mask();
    add_loss("load_balancing", balance_of(p, left_out, kept, config.load_balancing));
  }
  return reshape(sum(embedding(weighted, to.rows), 1), in.x.shape());  // over (N, k, d_model)
}

}  // namespace heed
