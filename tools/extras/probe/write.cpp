#include "tools/extras/probe/write.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "layers/layer_norm.h"
#include "layers/module/evaluation_mode.h"
#include "layers/rms_norm.h"
#include "tools/extras/report/parts.h"

namespace heed::probe {

namespace {

const std::string write_name = "heed probe: write";

// A sum of rows, and whether it is what the model computed.
class Sum {
 public:
  void add(const Row& row) {
    of_.resize(row.size());
    for (size_t i = 0; i < row.size(); ++i) {
      of_[i] += row[i];
      largest_ = std::max(largest_, std::abs(row[i]));
    }
  }
  // But for rounding.
  bool is(const Row& whole) const {
    return std::equal(of_.begin(), of_.end(), whole.begin(), whole.end(),
                      [&](double a, double b) { return std::abs(a - b) <= 1e-4 * largest_; });
  }

 private:
  Row of_;
  double largest_ = 0;
};

// What a part writes to the stream at the last position. The value is filled in later.
struct Writing {
  Contribution part;
  Row row;
};

void add_embeddings(const Ends& ends, std::vector<Writing>& writings) {
  const Row stream = last_row(ends.stream);
  const bool apart = ends.embedding && ends.embedding.shape() == ends.stream.shape();
  const Row embedding = apart ? last_row(ends.embedding) : stream;
  writings.push_back({{.part = "embedding"}, embedding});
  if (embedding != stream) {
    writings.push_back({{.part = "position"}, difference(stream, embedding)});
  }
}

// z (1, T, H, d) of one head, the others 0; of none if there is no such head.
Array alone(const Array& z, int64_t head) {
  Array out = Array::zeros(z.shape());
  const int64_t heads = z.dim(2), width = z.dim(3);
  if (head >= 0 && head < heads) {
    for (int64_t at = head * width; at < z.size(); at += heads * width) {
      std::copy_n(z.data() + at, width, out.mutable_data() + at);
    }
  }
  return out;
}

// What each attention gives if only this head of it does anything; -1: none. A single run serves
// all blocks, because z is not that of the run.
std::map<const Module*, Row> given_by_head(Module& model, const Input& in, const Activations& kept,
                                           const std::vector<const Module*>& attention,
                                           int64_t head) {
  std::vector<PartObserver::Watched> watched;
  for (const Module* part : attention) {
    watched.push_back({part, Activation::heads});
    watched.push_back({part, Activation::output});
  }
  std::map<const Module*, Row> given;
  const PartObserver observer(watched, [&](const Observation& seen) {
    if (seen.what == Activation::heads) {
      return alone(kept.at(seen.key()), head - seen.first_head);
    }
    given[seen.part] = last_row(seen.value);
    return Array();
  });
  model(in);
  return given;
}

class Writings {
 public:
  Writings(Module& model, const Input& in, const std::vector<Block>& blocks, const Ends& ends) {
    add_embeddings(ends, all);
    stream_.add(last_row(ends.stream));
    std::vector<const Module*> attention;
    for (const Block& block : blocks) attention.push_back(block.attention.front());
    heads_ = count_heads(model, in, attention, write_name);
    kept_ = activations_of(model, in, watched_in(blocks));
    int64_t most = 0;
    for (const auto& [part, heads] : heads_) {
      most = std::max(most, heads);
    }
    for (int64_t head = -1; head < most; ++head) {
      given_.push_back(given_by_head(model, in, kept_, attention, head));
    }
    for (const Block& block : blocks) {
      add_block(block);
    }
  }

  std::vector<Writing> all;

 private:
  Row output(const Module* part) const { return last_row(kept_.at({part, Activation::output, 0})); }

  void add_heads(const Block& block) {
    const Module* attention = block.attention.front();
    if (heads_.at(attention) == 0) {  // another kind, in a model of several
      all.push_back({{.part = "attention", .block = block.number}, output(attention)});
      return;
    }
    const Row bias = given_.front().at(attention);
    Sum sum;
    sum.add(bias);
    for (int64_t head = 0; head < heads_.at(attention); ++head) {
      const Row row = difference(given_[static_cast<size_t>(head) + 1].at(attention), bias);
      sum.add(row);
      all.push_back({{.part = "head", .block = block.number, .head = head}, row});
    }
    all.push_back({{.part = "out_bias", .block = block.number}, bias});
    require<ConfigError>(sum.is(output(attention)), write_name, ": ", attention->path(),
                         " is not a sum over its heads: what each of them adds cannot be told");
  }

  void add_block(const Block& block) {
    add_heads(block);
    stream_.add(output(block.attention.front()));
    if (block.feed_forward != nullptr) {
      all.push_back({{.part = "feed_forward", .block = block.number}, output(block.feed_forward)});
      stream_.add(all.back().row);
    }
    require<ConfigError>(stream_.is(output(block.layer)), write_name, ": ", block.layer->path(),
                         " does more than add its attention and feed-forward to what it is given, ",
                         "as x + att(norm(x)) does: what each of them adds cannot be told");
  }

  Sum stream_;
  std::map<const Module*, int64_t> heads_;
  Activations kept_;
  std::vector<std::map<const Module*, Row>>
      given_;  // by no head, by head 0 of each, by head 1, ...
};

// The last norm at one position: a linear map, because its s is held, and a shift.
struct HeldNorm {
  bool centred;
  Row scale, shift;
  double s = 0;

  double mean_of(const Row& p) const {
    return centred ? std::accumulate(p.begin(), p.end(), 0.0) / static_cast<double>(p.size()) : 0;
  }
  Row without_shift(const Row& p) const {
    Row out;
    const double mean = mean_of(p);
    for (const double number : p) {
      out.push_back((number - mean) / s * scale[out.size()]);
    }
    return out;
  }
};

HeldNorm held_norm(const Ends& ends) {
  const auto* centring = dynamic_cast<const LayerNorm*>(ends.norm);
  const auto* rms = dynamic_cast<const RmsNorm*>(ends.norm);
  require<ConfigError>(centring != nullptr || rms != nullptr, write_name,
                       ": expected a layer_norm or rms_norm after the last block, got ",
                       ends.norm != nullptr ? ends.norm->path() + ", another layer" : "no layer");
  const Row x = last_row(ends.x);
  const Tensor& scale = centring != nullptr ? centring->scale : rms->scale;
  HeldNorm norm{centring != nullptr, last_row(scale.value()), Row(x.size())};
  if (centring != nullptr && centring->shift) {
    const Tensor& shift = centring->shift;
    norm.shift = last_row(shift.value());
  }
  double squares = 0;
  for (const double number : x) {
    squares += std::pow(number - norm.mean_of(x), 2);
  }
  const double eps = centring != nullptr ? centring->config.eps : rms->config.eps;
  norm.s = std::sqrt(squares / static_cast<double>(x.size()) + eps);
  return norm;
}

}  // namespace

Row last_row(const Array& value) {
  const auto row = value.span().last(static_cast<size_t>(value.dim(-1)));
  return {row.begin(), row.end()};
}

Row difference(const Row& a, const Row& b) {
  Row out = a;
  std::transform(a.begin(), a.end(), b.begin(), out.begin(), std::minus<>());
  return out;
}

std::vector<std::vector<real>> logits_of_rows(Module& model, const Input& in, const Module* layer,
                                              const std::vector<Row>& rows) {
  const int64_t tokens = in.ids.size(), count = std::ssize(rows), width = std::ssize(rows.front());
  std::vector<std::vector<real>> found;
  for (int64_t first = 0; first < count; first += tokens) {
    const int64_t end = std::min(first + tokens, count);
    Array y = Array::zeros({1, tokens, width});
    for (int64_t i = first; i < end; ++i) {
      const Row& row = rows[static_cast<size_t>(i)];
      std::transform(row.begin(), row.end(), y.mutable_data() + (i - first) * width,
                     [](double number) { return static_cast<real>(number); });
    }
    const PartObserver in_place({{layer, Activation::output}},
                                [&](const Observation&) { return y; });
    const Array logits = model(in).value();  // (1, T, V)
    for (int64_t i = first; i < end; ++i) {
      const real* const row = logits.data() + (i - first) * logits.dim(2);
      found.emplace_back(row, row + logits.dim(2));
    }
  }
  return found;
}

Attribution attribute(Module& model, const Input& in, const Measure& measure) {
  const EvaluationMode evaluating(model);
  const std::vector<Block> blocks = blocks_of_one_sequence(model, in, write_name);
  const Ends ends = ends_of(model, in, blocks);
  require_logits(ends.output, in.ids.size(), write_name);
  const HeldNorm norm = held_norm(ends);
  const Writings writings(model, in, blocks, ends);
  std::vector<Row> rows;
  for (const Writing& writing : writings.all) {
    rows.push_back(norm.without_shift(writing.row));
  }
  rows.emplace_back(norm.shift.size());  // what is left without any part
  rows.push_back(norm.shift);
  std::vector<double> logits;
  for (const std::vector<real>& row : logits_of_rows(model, in, ends.norm, rows)) {
    logits.push_back(measure(row.data()));
  }
  const double shift = logits.back(), nothing = logits[logits.size() - 2];
  Attribution found{.logit = measure.at_end(ends.output)};
  double sum = shift, largest = 1;
  for (size_t i = 0; i < writings.all.size(); ++i) {
    Contribution& part = found.parts.emplace_back(writings.all[i].part);
    part.value = logits[i] - nothing;
    sum += part.value;
    largest = std::max(largest, std::abs(part.value));
  }
  found.parts.push_back({.part = "final_shift", .value = shift});
  require<ConfigError>(std::abs(sum - found.logit) <= 1e-3 * largest, write_name,
                       ": the parts add up to ", sum, ", the logit is ", found.logit,
                       ": the model does more with its last norm than one Linear layer");
  return found;
}

}  // namespace heed::probe
