#include "tools/extras/bpe/train/train.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>

#include "autograd/base/error.h"
#include "tools/extras/bpe/train/merges.h"
#include "tools/extras/bpe/train/text/byte_text.h"
#include "train/tokenizers/tokenizer.h"

namespace heed {

namespace {

using Pair = std::pair<int32_t, int32_t>;

struct PairHash {
  size_t operator()(const Pair& pair) const {
    const auto both = static_cast<uint64_t>(static_cast<uint32_t>(pair.first)) << 32 |
                      static_cast<uint32_t>(pair.second);
    return std::hash<uint64_t>()(both * 0x9E3779B97F4A7C15u);
  }
};

// A distinct piece of the training text.
struct Word {
  std::vector<int32_t> symbols;
  int64_t count = 0;
};

// A pair that may merge. `count` was its count when it was queued; it may have fallen since.
struct Candidate {
  Pair pair;
  int64_t count = 0;
  std::vector<size_t> words;  // where the pair has appeared
};

// For a queue with the next merge on top: the highest count, then the smallest pair.
struct IsLater {
  bool operator()(const Candidate& a, const Candidate& b) const {
    return a.count != b.count ? a.count < b.count : a.pair > b.pair;
  }
};

class Learner {
 public:
  Learner(BpeModel& model, const std::unordered_map<std::string, int64_t>& counts)
      : model_(model), ids_(ids_by_token(model)) {
    for (const auto& [piece, count] : counts) {
      Word word{{}, count};
      for (const char byte : piece) {
        word.symbols.push_back(ids_.at(std::string(1, byte)));
      }
      words_.push_back(std::move(word));
    }
    count_pairs();
  }

  void learn(size_t vocab_size, int64_t min_count) {
    while (model_.tokens.size() < vocab_size && !queue_.empty()) {
      Candidate best = queue_.top();
      queue_.pop();
      const int64_t now = pair_counts_[best.pair];
      if (best.count != now) {
        best.count = now;
        queue_.push(std::move(best));
      } else if (now < std::max<int64_t>(1, min_count)) {
        return;
      } else if (!is_written_as_special(model_, token_of(best.pair))) {
        merge(best);
      }
    }
  }

 private:
  using Places = std::unordered_map<Pair, std::vector<size_t>, PairHash>;  // words, in order

  void count_pairs() {
    Places places;
    for (size_t w = 0; w < words_.size(); ++w) {
      const std::vector<int32_t>& symbols = words_[w].symbols;
      for (size_t i = 1; i < symbols.size(); ++i) {
        pair_counts_[{symbols[i - 1], symbols[i]}] += words_[w].count;
        add_place(places[{symbols[i - 1], symbols[i]}], w);
      }
    }
    queue_all(places);
  }

  static void add_place(std::vector<size_t>& words, size_t word) {
    if (words.empty() || words.back() != word) {
      words.push_back(word);
    }
  }

  void queue_all(Places& places) {
    for (auto& [pair, words] : places) {
      if (const int64_t count = pair_counts_[pair]; count > 0) {
        queue_.push({pair, count, std::move(words)});
      }
    }
  }

  // The bytes of the token that a pair merges into.
  std::string token_of(const Pair& pair) const {
    return model_.tokens[static_cast<size_t>(pair.first)] +
           model_.tokens[static_cast<size_t>(pair.second)];
  }

  void merge(const Candidate& best) {
    const std::string token = token_of(best.pair);
    const auto [place, is_new] = ids_.emplace(token, static_cast<int32_t>(model_.tokens.size()));
    if (is_new) {
      model_.tokens.push_back(token);
    }
    model_.merges.push_back(best.pair);
    Places places;
    for (const size_t w : best.words) {
      merge_in(w, best.pair, place->second, places);
    }
    queue_all(places);
  }

  // Merges the pair everywhere in a word, from the left, and keeps the counts of its neighbours:
  //   p a b n -> p ab n      (p, a) and (b, n) lose an occurrence, (p, ab) and (ab, n) gain one
  void merge_in(size_t w, const Pair& pair, int32_t merged, Places& places) {
    std::vector<int32_t>& symbols = words_[w].symbols;
    const int64_t count = words_[w].count;
    const auto appears = [&](const Pair& fresh) {
      pair_counts_[fresh] += count;
      add_place(places[fresh], w);
    };
    size_t out = 0;  // symbols that are done
    for (size_t i = 0; i < symbols.size(); ++i) {
      if (i + 1 == symbols.size() || symbols[i] != pair.first || symbols[i + 1] != pair.second) {
        symbols[out++] = symbols[i];
        continue;
      }
      if (out > 0) {
        pair_counts_[{symbols[out - 1], pair.first}] -= count;
        appears({symbols[out - 1], merged});
      }
      if (i + 2 < symbols.size()) {
        pair_counts_[{pair.second, symbols[i + 2]}] -= count;
        appears({merged, symbols[i + 2]});
      }
      symbols[out++] = merged;
      ++i;
    }
    symbols.resize(out);
  }

  BpeModel& model_;
  std::unordered_map<std::string, int32_t> ids_;
  std::vector<Word> words_;
  std::unordered_map<Pair, int64_t, PairHash> pair_counts_;
  std::priority_queue<Candidate, std::vector<Candidate>, IsLater> queue_;
};

void check(const BpeTraining& options) {
  const std::set<std::string> distinct(options.special.begin(), options.special.end());
  require<ConfigError>(distinct.size() == options.special.size() && !distinct.contains(""),
                       "special tokens: expected texts that differ and are not empty");
  for (const std::string& special : options.special) {
    const std::optional<std::string> bytes = bytes_of_text(special);
    require<ConfigError>(special.size() > 1 && (!bytes || bytes->size() > 1),
                         "special tokens: expected more than one byte, or a character that stands ",
                         "for a byte, as every text has those, got ", visible_bytes(special));
  }
  const auto least = static_cast<int64_t>(256 + options.special.size());
  constexpr int64_t most = 10'000'000;
  require<ConfigError>(options.vocab_size >= least && options.vocab_size <= most,
                       "a vocabulary has 256 bytes and ", options.special.size(),
                       " special tokens: expected a size from ", least, " to ", most, ", got ",
                       options.vocab_size);
}

// The tokens before any merge.
BpeModel first_tokens(const BpeTraining& options) {
  BpeModel model;
  model.rules = {{options.pattern, SplitRule::Keep::all}};
  for (const std::string& special : options.special) {
    model.added.push_back({static_cast<int32_t>(model.tokens.size()), special, true});
    model.tokens.push_back(special);
  }
  std::map<char32_t, char> bytes;  // by their characters
  for (int byte = 0; byte < 256; ++byte) {
    bytes[byte_character(static_cast<unsigned char>(byte))] = static_cast<char>(byte);
  }
  for (const auto& entry : bytes) {
    model.tokens.emplace_back(1, entry.second);
  }
  return model;
}

}  // namespace

BpeTrainer::BpeTrainer(BpeTraining options)
    : options_(std::move(options)),
      splitter_({{options_.pattern, SplitRule::Keep::all}}, "heed tokenizer train"),
      cutter_(splitter_) {
  check(options_);
}

void BpeTrainer::add(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    cutter_.cut(text.substr(0, end),
                [&](std::string_view piece) { ++counts_[std::string(piece)]; });
    text.remove_prefix(end);
  }
}

BpeModel BpeTrainer::train() const {
  require<ConfigError>(!counts_.empty(), "expected text to learn from, got none");
  BpeModel model = first_tokens(options_);
  Learner(model, counts_).learn(static_cast<size_t>(options_.vocab_size), options_.min_count);
  return model;
}

}  // namespace heed
