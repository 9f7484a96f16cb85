#include "tools/extras/bpe/train/bpe_tokenizer.h"

#include <algorithm>
#include <mutex>

#include "autograd/threads/parallel.h"
#include "layers/text/utf8.h"
#include "tools/extras/bpe/train/read.h"
#include "tools/extras/bpe/train/write.h"
#include "train/files/files.h"

namespace heed {

namespace {

constexpr size_t segment_bytes = 1 << 22;  // whose pieces are in memory at a time
constexpr size_t bytes_for_threads = 1 << 16;
constexpr size_t most_cached = 1 << 17, longest_cached = 64;

}  // namespace

// Encodes pieces; one for each thread. Most pieces of a text have been there before, so it keeps
// their ids.
class BpeTokenizer::Encoder {
 public:
  Encoder(const Splitter& splitter, const Merges& merges) : cutter_(splitter), merges_(merges) {}

  void encode(std::string_view text) {
    ids.clear();
    cutter_.cut(text, [&](std::string_view piece) { add(piece); });
  }
  void encode(std::string_view text, std::span<const SplitStep> steps) {
    ids.clear();
    for (const SplitStep& step : steps) {
      cutter_.cut(text, step, [&](std::string_view piece) { add(piece); });
    }
  }

  std::vector<int32_t> ids;  // of the text, or of the steps

 private:
  struct Hash {
    using is_transparent = void;  // so that a piece of a text is looked up without a copy
    size_t operator()(std::string_view piece) const { return std::hash<std::string_view>()(piece); }
  };
  struct Place {
    uint32_t begin = 0;
    uint32_t end = 0;
  };

  void add(std::string_view piece) {
    if (piece.size() > longest_cached) {
      merges_.encode(piece, scratch_, ids);
      return;
    }
    if (const auto found = cache_.find(piece); found != cache_.end()) {
      const Place place = found->second;
      ids.insert(ids.end(), cached_.begin() + place.begin, cached_.begin() + place.end);
      return;
    }
    const size_t before = ids.size();
    merges_.encode(piece, scratch_, ids);
    if (cache_.size() < most_cached) {
      const auto begin = static_cast<uint32_t>(cached_.size());
      cached_.insert(cached_.end(), ids.begin() + static_cast<ptrdiff_t>(before), ids.end());
      cache_.emplace(piece, Place{begin, static_cast<uint32_t>(cached_.size())});
    }
  }

  Cutter cutter_;
  const Merges& merges_;
  MergeScratch scratch_;
  std::unordered_map<std::string, Place, Hash, std::equal_to<>> cache_;  // in `cached_`
  std::vector<int32_t> cached_;
};

// The encoders that no thread uses. They keep what they have learned: a file of examples is a text
// for each cell.
class BpeTokenizer::Encoders {
 public:
  explicit Encoders(const BpeTokenizer& of) : of_(of) {}

  std::unique_ptr<Encoder> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) {
      return std::make_unique<Encoder>(of_.splitter_, of_.merges_);
    }
    std::unique_ptr<Encoder> encoder = std::move(idle_.back());
    idle_.pop_back();
    return encoder;
  }
  void give_back(std::unique_ptr<Encoder> encoder) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(encoder));
  }

 private:
  const BpeTokenizer& of_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Encoder>> idle_;
};

namespace {

BpeModel read_checked(const BpeTokenizer::Config& c, const TokenizerSetup& setup) {
  const std::filesystem::path kept = setup.checkpoint / stored_tokenizer;
  const bool is_kept = !setup.checkpoint.empty() && is_there(kept);
  const std::filesystem::path path = is_kept ? kept : setup.config_folder / c.path;
  BpeModel model = read_bpe(path);
  if (!c.fingerprint.empty()) {
    const std::string found = fingerprint(as_bytes(bpe_to_json(model))).text();
    require<IoError>(found == c.fingerprint, path.string(), ": changed: expected the tokenizer ",
                     "with fingerprint ", c.fingerprint, ", got ", found);
  }
  return model;
}

// The added tokens that encoding takes out of a text.
std::vector<AddedToken> looked_for(std::vector<AddedToken> added, SpecialTokens special) {
  if (special == SpecialTokens::as_text) {
    std::erase_if(added, [](const AddedToken& token) { return token.special; });
  }
  return added;
}

bool is_space_at(std::string_view text, size_t at) {
  const Utf8Character c = utf8_at(text, at);
  return c.size > 0 && is_space(c.code) && c.code != 0x180E;  // as Unicode has it since 6.3
}

// Where the white space at the beginning of a text ends, and that at its end begins.
size_t end_of_leading_space(std::string_view text) {
  size_t at = 0;
  while (at < text.size() && is_space_at(text, at)) {
    at += utf8_at(text, at).size;
  }
  return at;
}
size_t begin_of_trailing_space(std::string_view text) {
  size_t begin = 0;
  for (size_t at = 0; at < text.size(); at += std::max<size_t>(1, utf8_at(text, at).size)) {
    begin = is_space_at(text, at) ? begin : at + std::max<size_t>(1, utf8_at(text, at).size);
  }
  return begin;
}

}  // namespace

void BpeTokenizer::Config::fields(Fields& f) {
  f.required("path", path,
             "a tokenizer.json, of heed tokenizer train or of Hugging Face's tokenizers");
  f.optional("special_tokens", special_tokens,
             "true: special tokens that the text contains, as <|endoftext|>, become their ids");
  f.optional("fingerprint", fingerprint,
             "size and hash of the tokenizer; a run's own config has it and refuses another one");
}

BpeTokenizer::BpeTokenizer(const Config& c, const TokenizerSetup& setup)
    : BpeTokenizer(read_checked(c, setup), (setup.config_folder / c.path).string(),
                   c.special_tokens ? SpecialTokens::as_tokens : SpecialTokens::as_text) {}

BpeTokenizer::BpeTokenizer(BpeModel model, const std::string& where, SpecialTokens special)
    : model_(std::move(model)),
      splitter_(model_.rules, where),
      merges_(model_, where),
      looked_for_(looked_for(model_.added, special)),
      encoders_(std::make_unique<Encoders>(*this)) {}

BpeTokenizer::~BpeTokenizer() = default;

std::vector<int32_t> BpeTokenizer::encode(const std::string& text) const {
  std::vector<int32_t> ids;
  encode_in_parts(text, [&](std::span<const int32_t> part) {
    ids.insert(ids.end(), part.begin(), part.end());
  });
  return ids;
}

void BpeTokenizer::encode_in_parts(std::string_view text, const Each& each) const {
  for (size_t from = 0; from < text.size();) {
    size_t at = 0;
    const AddedToken* const token = looked_for_.find(text, from, at);
    const std::string_view before = text.substr(from, at - from);
    const bool strips = token != nullptr && token->strips_left;
    encode_plain(strips ? before.substr(0, begin_of_trailing_space(before)) : before, each);
    from = at;
    if (token != nullptr) {
      each({&token->id, 1});
      from += token->content.size();
      from += token->strips_right ? end_of_leading_space(text.substr(from)) : 0;
    }
  }
}

// Bytes that are not UTF-8 are pieces of their own: patterns need characters.
void BpeTokenizer::encode_plain(std::string_view text, const Each& each) const {
  std::string with_blank;
  if (model_.prefix_space && !text.empty() && text[0] != ' ') {
    with_blank = " " + std::string(text);
    text = with_blank;
  }
  MergeScratch scratch;
  std::vector<int32_t> ids;
  for (size_t at = 0; at < text.size();) {
    const size_t end = first_wrong_byte(text, at);
    if (end > at) {
      const std::string_view part = text.substr(at, end - at);
      if (model_.composes) {
        encode_characters(composed(part), each);
      } else {
        encode_characters(part, each);
      }
    }
    size_t next = end;
    while (next < text.size() && utf8_at(text, next).size == 0) {
      ++next;
    }
    if (next > end) {
      ids.clear();
      merges_.encode(text.substr(end, next - end), scratch, ids);
      each(ids);
    }
    at = next;
  }
}

// Cuts a segment into steps, shares them between threads, and joins their ids in order.
void BpeTokenizer::encode_characters(std::string_view text, const Each& each) const {
  if (text.size() < bytes_for_threads) {
    std::unique_ptr<Encoder> encoder = encoders_->take();
    encoder->encode(text);
    each(encoder->ids);
    encoders_->give_back(std::move(encoder));
    return;
  }
  const int threads = num_threads();
  std::vector<std::unique_ptr<Encoder>> encoders;
  for (int k = 0; k < threads; ++k) {
    encoders.push_back(encoders_->take());
  }
  for (size_t at = 0; at < text.size();) {
    size_t until = std::min(text.size(), at + segment_bytes);
    until = at + whole_characters(text.substr(at, until - at)).size();
    const std::vector<SplitStep> steps = splitter_.steps(text, at, until, threads);
    const auto share = [&](int64_t first, int64_t last) {
      for (auto k = static_cast<size_t>(first); k < static_cast<size_t>(last); ++k) {
        const size_t begin = steps.size() * k / encoders.size(),
                     end = steps.size() * (k + 1) / encoders.size();
        encoders[k]->encode(text, std::span(steps).subspan(begin, end - begin));
      }
    };
    if (threads == 1) {
      share(0, 1);
    } else {
      parallel_for(threads, 1, share);
    }
    for (const auto& encoder : encoders) {
      each(encoder->ids);
    }
    at = steps.back().end;
  }
  for (auto& encoder : encoders) {
    encoders_->give_back(std::move(encoder));
  }
}

const std::string& BpeTokenizer::bytes(int32_t id) const {
  require(id >= 0 && id < vocab_size(), "tokenizer: expected ids in [0, ", vocab_size(), "), got ",
          id);
  return model_.tokens[static_cast<size_t>(id)];
}

std::string BpeTokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids) {
    text += bytes(id);
  }
  return text;
}

std::string BpeTokenizer::name(int32_t id) const {
  const std::string& token = bytes(id);
  return token.empty() ? text("(", id, ")") : visible_bytes(token);
}

std::string BpeTokenizer::stored() const { return bpe_to_json(model_); }

}  // namespace heed
