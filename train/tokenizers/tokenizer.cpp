#include "train/tokenizers/tokenizer.h"

#include <algorithm>
#include <bit>

#include "autograd/base/error.h"
#include "layers/text/display.h"
#include "layers/text/formatted.h"
#include "layers/text/utf8.h"
#include "train/tokenizers/vocabulary.h"

namespace heed {

namespace {

constexpr char32_t direct_limit = 0x800;  // characters of one or two bytes
constexpr size_t part_bytes = 1 << 16;    // of encode_in_parts

void require_id(int32_t id, int64_t vocab_size) {
  require(id >= 0 && id < vocab_size, "tokenizer: expected ids in [0, ", vocab_size, "), got ", id);
}

}  // namespace

TokenizerRegistry& tokenizer_registry() {
  static TokenizerRegistry& registry = TokenizerRegistry::filled("tokenizer", register_tokenizers);
  return registry;
}

// ---- Characters

CharTokenizer::CharTokenizer(const Config&, const TokenizerSetup& setup)
    : CharTokenizer(setup.vocabulary.empty() ? setup.corpus : std::span<const std::string_view>()) {
  if (!setup.vocabulary.empty()) {
    std::string all;
    for (const std::string& token : vocabulary_from_json(setup.vocabulary, "char")) {
      require<IoError>(utf8_at(token, 0).size == token.size(),
                       "vocabulary.json: expected characters, got ", printable(token));
      all += token;
    }
    *this = CharTokenizer(all);
  }
}

CharTokenizer::CharTokenizer(std::span<const std::string_view> corpus) : direct_(direct_limit, -1) {
  std::vector<uint64_t> seen;  // one bit per character, up to the largest that occurs
  for (const std::string_view text : corpus) {
    for (size_t at = 0; at < text.size();) {
      const Utf8Character c = utf8_at(text, at);
      require<IoError>(c.size > 0, "tokenizer: byte ", at, " of the text is not UTF-8");
      if (c.code / 64 >= seen.size()) {
        seen.resize(c.code / 64 + 1);
      }
      seen[c.code / 64] |= uint64_t{1} << c.code % 64;
      at += c.size;
    }
  }
  for (size_t i = 0; i < seen.size(); ++i) {
    for (uint64_t word = seen[i]; word != 0; word &= word - 1) {
      const auto code = static_cast<char32_t>(i * 64 + static_cast<size_t>(std::countr_zero(word)));
      if (code < direct_limit) {
        direct_[code] = static_cast<int32_t>(characters_.size());
      }
      characters_ += code;
    }
  }
}

int32_t CharTokenizer::id_of(char32_t character) const {
  if (character < direct_limit) {
    return direct_[character];
  }
  const auto at = std::lower_bound(characters_.begin(), characters_.end(), character);
  return at != characters_.end() && *at == character
             ? static_cast<int32_t>(at - characters_.begin())
             : -1;
}

std::vector<int32_t> CharTokenizer::encode(const std::string& text) const {
  std::vector<int32_t> ids;
  ids.reserve(text.size());
  if (!append_ids(text, ids)) {
    throw_unknown(text);
  }
  return ids;
}

void CharTokenizer::encode_in_parts(std::string_view text, const Each& each) const {
  std::vector<int32_t> ids;
  for (std::string_view left = text; !left.empty();) {
    const size_t whole = whole_characters(left.substr(0, part_bytes)).size();
    const size_t size = std::min(left.size(), whole > 0 ? whole : part_bytes);
    ids.clear();
    if (!append_ids(left.substr(0, size), ids)) {
      throw_unknown(text);
    }
    each(ids);
    left.remove_prefix(size);
  }
}

bool CharTokenizer::append_ids(std::string_view text, std::vector<int32_t>& ids) const {
  for (size_t at = 0; at < text.size();) {
    const Utf8Character c = utf8_at(text, at);
    require<ConfigError>(c.size > 0, "the text is not UTF-8 at byte ", at);
    const int32_t id = id_of(c.code);
    if (id < 0) {
      return false;
    }
    ids.push_back(id);
    at += c.size;
  }
  return true;
}

// Lists every character of the text that is not in the vocabulary.
void CharTokenizer::throw_unknown(std::string_view text) const {
  constexpr size_t most_listed = 40;
  const auto list = [](const std::u32string& characters) {
    std::string names;
    for (const char32_t character : characters.substr(0, most_listed)) {
      names += ' ' + visible(character);
    }
    return names + (characters.size() > most_listed ? " ..." : "");
  };
  std::u32string unknown;
  std::vector<bool> seen(0x110000);
  int64_t first = 0, position = 0;
  for (size_t at = 0; at < text.size();) {
    const Utf8Character c = utf8_at(text, at);
    ++position;
    if (c.size > 0 && id_of(c.code) < 0 && !seen[c.code]) {
      seen[c.code] = true;
      first = first == 0 ? position : first;
      unknown += c.code;
    }
    at += std::max<size_t>(1, c.size);
  }
  const bool one = unknown.size() == 1;
  fail<ConfigError>("the character", one ? "" : "s", list(unknown),
                    one ? " (character " : " (the first is character ", first, " of the text) ",
                    one ? "is" : "are", " not in the vocabulary: the model knows ", vocab_size(),
                    " characters:", list(characters_));
}

std::string CharTokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids) {
    require_id(id, vocab_size());
    append_utf8(text, characters_[static_cast<size_t>(id)]);
  }
  return text;
}

std::string CharTokenizer::name(int32_t id) const {
  require_id(id, vocab_size());
  return visible(characters_[static_cast<size_t>(id)]);
}

std::string CharTokenizer::vocabulary() const {
  std::vector<std::string> tokens;
  std::transform(characters_.begin(), characters_.end(), std::back_inserter(tokens), to_utf8);
  return vocabulary_to_json("char", tokens);
}

// ---- Bytes

std::vector<int32_t> ByteTokenizer::encode(const std::string& text) const {
  std::vector<int32_t> ids(text.size());
  std::transform(text.begin(), text.end(), ids.begin(),
                 [](char c) { return static_cast<int32_t>(static_cast<unsigned char>(c)); });
  return ids;
}

void ByteTokenizer::encode_in_parts(std::string_view text, const Each& each) const {
  for (; !text.empty(); text.remove_prefix(std::min(text.size(), part_bytes))) {
    each(encode(std::string(text.substr(0, part_bytes))));
  }
}

std::string ByteTokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  text.reserve(ids.size());
  for (const int32_t id : ids) {
    require_id(id, vocab_size());
    text += static_cast<char>(static_cast<unsigned char>(id));
  }
  return text;
}

std::string ByteTokenizer::name(int32_t id) const {
  require_id(id, vocab_size());
  const char byte = static_cast<char>(static_cast<unsigned char>(id));
  return visible_bytes({&byte, 1});
}

std::string visible_bytes(std::string_view bytes) {
  std::string name;
  for (size_t at = 0; at < bytes.size();) {
    const Utf8Character c = utf8_at(bytes, at);
    const auto byte = static_cast<unsigned char>(bytes[at]);
    const bool control = byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t';
    if (c.size > 0 && !control && byte != 0x7F) {
      name += visible(c.code);
    } else {
      name += formatted("\\x%02X", byte);
    }
    at += std::max<size_t>(1, c.size);
  }
  return name;
}

// ---- Validity

void check_utf8(std::string_view text, const std::string& where) {
  const size_t at = std::min(first_wrong_byte(text), text.find('\0'));
  if (at < text.size()) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(at), '\n');
    fail<IoError>(where, ": expected UTF-8, got the byte ",
                  formatted("0x%02X", static_cast<unsigned char>(text[at])), " at byte ", at,
                  ", line ", line, text[at] == '\0' ? " (a file in UTF-16 has such bytes)" : "",
                  "; convert the file to UTF-8 (with iconv, for example)");
  }
}

}  // namespace heed
