#include "tools/extras/report/heads.h"

#include <algorithm>
#include <cmath>

#include "autograd/random/fills.h"
#include "layers/module/evaluation_mode.h"
#include "tools/extras/report/pages/attention_maps.h"
#include "tools/extras/report/parts.h"

namespace heed::probe {

namespace {

const std::string probe_name = "heed probe: heads";

Ids doubled(Generator& generator, int64_t count, int64_t length, int64_t vocabulary) {
  Ids ids = Ids::uninitialised({count, 2 * length});
  std::vector<int64_t> drawn(static_cast<size_t>(length));
  for (int64_t i = 0; i < count; ++i) {
    fill_randint(generator, drawn, 0, vocabulary);
    int32_t* row = ids.mutable_data() + 2 * i * length;
    std::transform(drawn.begin(), drawn.end(), row,
                   [](int64_t id) { return static_cast<int32_t>(id); });
    std::copy_n(row, length, row + length);
  }
  return ids;
}

class Mean {
 public:
  void add(double value) { sum_ += value, ++count_; }
  double value() const { return count_ > 0 ? sum_ / static_cast<double>(count_) : 0; }
  std::optional<double> if_any() const {
    return count_ > 0 ? std::optional<double>(value()) : std::nullopt;
  }

 private:
  double sum_ = 0;
  int64_t count_ = 0;
};

struct Means {
  Mean previous_token, duplicate_token, induction, first_token, diagonal, entropy;
};

// The sequence that an attention reads.
struct Tokens {
  const int32_t* ids;  // of the item; null for a model that is not given ids
  std::optional<int64_t> repeat;
};

double entropy_of(const real* weights, int64_t keys) {
  double entropy = 0;
  for (int64_t s = 0; s < keys; ++s) {
    const auto w = static_cast<double>(weights[s]);
    entropy -= w > 0 ? w * std::log(w) : 0;
  }
  return entropy;
}

// Scores of one row of weights, of query t of a sequence that attends to itself.
void add_row(const real* weights, int64_t t, const Tokens& tokens, Means& means) {
  const auto weight = [&](int64_t s) { return static_cast<double>(weights[s]); };
  if (t >= 1) {
    means.previous_token.add(weight(t - 1));
    means.first_token.add(weight(0));
  }
  if (tokens.repeat) {
    const int64_t before = t - *tokens.repeat;
    if (before >= 0) {
      means.duplicate_token.add(weight(before));
      means.induction.add(weight(before + 1));
    }
    return;
  }
  double same = 0, after = 0;
  bool any = false;
  for (int64_t s = 0; s < t && tokens.ids != nullptr; ++s) {
    if (tokens.ids[s] == tokens.ids[t]) {
      any = true;
      same += weight(s);
      after += weight(s + 1);
    }
  }
  if (any) {
    means.duplicate_token.add(same);
    means.induction.add(after);
  }
}

// Adds the scores of each head of `seen`, weights (B, H, T, S), to `means`, one for each head.
void add_weights(const Observation& seen, const Input& in, std::optional<int64_t> repeat,
                 std::vector<Means>& means) {
  require<ConfigError>(are_shares(seen.value), "heed probe: heads: ", seen.part->path(),
                       " has weights outside of 0 to 1 (attention_weights none or sum), which ",
                       "these means cannot describe");
  const Shape& shape = seen.value.shape();
  const int64_t heads = shape[1], queries = shape[2], keys = shape[3];
  const bool of_source = in.source_ids && !seen.beside_context;
  const Ids& ids = of_source ? in.source_ids : in.ids;
  const Mask& mask = of_source ? in.source_mask : in.source_ids ? Mask() : in.mask;
  const bool padded = mask && mask.rank() == 2;
  means.resize(std::max(means.size(), static_cast<size_t>(seen.first_head + heads)));
  for (int64_t b = 0; b < shape[0]; ++b) {
    const bool has_ids = ids && !seen.cross && ids.size() == shape[0] * queries;
    const Tokens tokens{has_ids ? ids.data() + b * queries : nullptr, repeat};
    for (int64_t i = 0; i < heads * queries; ++i) {
      const int64_t t = i % queries;
      if (padded && !seen.cross && mask.data()[b * queries + t] == 0) {
        continue;
      }
      Means& of_head = means[static_cast<size_t>(seen.first_head + i / queries)];
      const real* weights = seen.value.data() + (b * heads * queries + i) * keys;
      of_head.entropy.add(entropy_of(weights, keys));
      if (!seen.cross) {
        add_row(weights, t, tokens, of_head);
      } else {
        of_head.first_token.add(static_cast<double>(weights[0]));
        if (t < keys) {
          of_head.diagonal.add(static_cast<double>(weights[t]));
        }
      }
    }
  }
}

std::vector<std::vector<int32_t>> rows_of(const Ids& ids) {
  std::vector<std::vector<int32_t>> rows;
  const int64_t width = ids ? ids.dim(-1) : 0;
  for (int64_t at = 0; ids && at < ids.size(); at += width) {
    rows.emplace_back(ids.data() + at, ids.data() + at + width);
  }
  return rows;
}

}  // namespace

Input repeated_tokens(const Module& model, int64_t count, int64_t length, uint64_t seed) {
  const Signature takes = model.signature();
  require<ConfigError>(takes.ids,
                       "heed probe: heads: expected a model of tokens, got one of vectors");
  constexpr int64_t most_sequences = 10'000, without_limit = 1 << 20;
  require<ConfigError>(count <= most_sequences, "heed probe: heads: expected --sequences at most ",
                       most_sequences, ", got ", count);
  const int64_t longest = takes.source_longest ? std::min(*takes.longest, *takes.source_longest)
                                               : takes.longest.value_or(without_limit);
  require<ConfigError>(length <= longest / 2, "heed probe: heads: expected --repeat at most ",
                       longest / 2, ", half the longest sequence of the model, got ", length);
  Generator generator(seed);
  Input in(doubled(generator, count, length, takes.vocab_size));
  if (takes.source_longest) {
    in.source_ids = doubled(generator, count, length, takes.source_vocab_size);
  }
  return in;
}

int64_t default_repeat(const Module& model) {
  const Signature takes = model.signature();
  const int64_t longest = takes.longest.value_or(32);
  return std::max<int64_t>(1, std::min(longest, takes.source_longest.value_or(longest)) / 2);
}

std::string head_name(const HeadScore& head, const HeadScores& all) {
  const bool two =
      std::any_of(all.heads.begin(), all.heads.end(), [](const HeadScore& of) { return of.cross; });
  const std::string stack = head.layer.substr(0, head.layer.find('.'));
  const std::string part = head.layer.substr(head.layer.rfind('.') + 1);
  return two ? text(stack, " ", head.block, " ", part, " head ", head.head)
             : text("block ", head.block, " head ", head.head);
}

void require_heads(Module& model, const Input& in, const std::string& probe) {
  std::vector<const Module*> attention;
  for (const std::vector<Block>& stack : stacks_of(model, probe)) {
    for (const Block& block : stack) {
      attention.insert(attention.end(), block.attention.begin(), block.attention.end());
    }
  }
  count_heads(model, in, attention, probe);
}

HeadScores score_heads(Module& model, const Input& in, std::optional<int64_t> repeat) {
  require_heads(model, in, probe_name);
  std::vector<const Module*> attention;
  std::vector<PartObserver::Watched> watched;
  std::map<const Module*, int64_t> number_of_block;
  for (const std::vector<Block>& stack : stacks_of(model, probe_name)) {
    for (const Block& block : stack) {
      for (const Module* part : block.attention) {
        attention.push_back(part);
        watched.push_back({part, Activation::attn_weights});
        number_of_block[part] = block.number;
      }
    }
  }
  const EvaluationMode evaluating(model);
  std::map<const Module*, std::vector<Means>> means;
  std::map<const Module*, bool> cross;
  const PartObserver observer(watched, [&](const Observation& seen) {
    add_weights(seen, in, repeat, means[seen.part]);
    cross[seen.part] = seen.cross;
    return Array();
  });
  model(in);
  HeadScores scores{repeat, rows_of(in.source_ids ? in.source_ids : in.ids), {}};
  for (const Module* part : attention) {
    int64_t head = 0;
    for (const Means& of : means[part]) {
      scores.heads.push_back({part->path(), number_of_block[part], head++, cross[part],
                              of.previous_token.if_any(), of.duplicate_token.if_any(),
                              of.induction.if_any(), of.first_token.if_any(), of.diagonal.if_any(),
                              of.entropy.value()});
    }
  }
  return scores;
}

}  // namespace heed::probe
