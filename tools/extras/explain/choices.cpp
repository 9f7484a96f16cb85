#include "tools/extras/explain/choices.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

#include "layers/module/evaluation_mode.h"

namespace heed::explain {

namespace {

constexpr size_t branches = 3;  // tokens that are followed from each sequence

// A sequence with one more token, and its probability.
struct Candidate {
  double probability = 0;
  int64_t parent = 0;
  int32_t token = 0;
  bool operator<(const Candidate& other) const { return probability < other.probability; }
};

class Tree {
 public:
  Tree(Module& model, const Input& in, const ChoiceOptions& options)
      : model_(model), in_(in), options_(options) {
    add({1, -1, 0}, {in.ids.data(), in.ids.data() + in.ids.size()});
  }

  // Adds the sequences that a greedy answer passes through, then the likeliest others.
  std::vector<Choice> grow() {
    for (int64_t i = 0; i < options_.tokens && !read_.back().next.empty(); ++i) {
      const Candidate next = read_.back().next.front();
      follow(next);
    }
    while (std::ssize(choices_) < options_.sequences && !waiting_.empty()) {
      const Candidate next = waiting_.top();
      waiting_.pop();
      if (!is_there(next)) {
        follow(next);
      }
    }
    return std::move(choices_);
  }

 private:
  struct Read {
    std::vector<int32_t> ids;
    int64_t depth = 0;
    std::vector<Candidate> next;  // the likeliest first
  };

  bool is_there(const Candidate& of) const {
    return std::any_of(choices_.begin(), choices_.end(), [&](const Choice& choice) {
      return choice.parent == of.parent && choice.token == of.token;
    });
  }

  void follow(const Candidate& next) {
    std::vector<int32_t> ids = read_[static_cast<size_t>(next.parent)].ids;
    ids.push_back(next.token);
    add(next, std::move(ids));
  }

  Array logits_of(const std::vector<int32_t>& ids) {
    const int64_t length = std::ssize(ids);
    const int64_t seen = options_.context > 0 ? std::min(length, options_.context) : length;
    Input in = in_;
    in.ids = Ids::from({1, seen}, std::span(ids).last(static_cast<size_t>(seen)));
    const Array logits = model_(in).value();  // (1, T, V)
    const int64_t width = logits.dim(-1);
    return Array::from({width}, logits.span().last(static_cast<size_t>(width)));
  }

  void add(const Candidate& from, std::vector<int32_t> ids) {
    const Array logits = logits_of(ids);
    const int64_t number = std::ssize(choices_);
    const bool first = from.parent < 0;
    Read read{std::move(ids), first ? 0 : read_[static_cast<size_t>(from.parent)].depth + 1, {}};
    const bool ended = !first && from.token == options_.end;
    if (read.depth < options_.tokens && !ended) {
      read.next = likeliest(logits, number, from.probability);
    }
    for (const Candidate& next : read.next) {
      waiting_.push(next);
    }
    choices_.push_back({from.parent, from.token, logits});
    read_.push_back(std::move(read));
  }

  static std::vector<Candidate> likeliest(const Array& logits, int64_t parent, double before) {
    std::vector<int32_t> order(static_cast<size_t>(logits.size()));
    std::iota(order.begin(), order.end(), 0);
    const size_t kept = std::min(branches, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(kept), order.end(),
                      [&](int32_t a, int32_t b) {
                        const real x = logits.data()[a], y = logits.data()[b];
                        return x > y || (x == y && a < b);
                      });
    const auto largest = static_cast<double>(logits.data()[order[0]]);
    double sum = 0;
    for (const real logit : logits.span()) {
      sum += std::exp(static_cast<double>(logit) - largest);
    }
    std::vector<Candidate> out;
    for (size_t i = 0; i < kept; ++i) {
      const auto logit = static_cast<double>(logits.data()[order[i]]);
      out.push_back({before * std::exp(logit - largest) / sum, parent, order[i]});
    }
    return out;
  }

  Module& model_;
  const Input& in_;
  const ChoiceOptions options_;
  std::vector<Choice> choices_;
  std::vector<Read> read_;  // as choices_
  std::priority_queue<Candidate> waiting_;
};

}  // namespace

std::vector<Choice> likeliest_choices(Module& model, const Input& in,
                                      const ChoiceOptions& options) {
  const EvaluationMode evaluating(model);
  return Tree(model, in, options).grow();
}

}  // namespace heed::explain
