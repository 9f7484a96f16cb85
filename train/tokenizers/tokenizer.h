// Tokenizers: the interface, and two without a vocabulary file, with one token per character or per
// byte.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

// Converts text to token ids and back.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual int64_t vocab_size() const = 0;
  // Throws ConfigError naming the first character that is not in the vocabulary.
  virtual std::vector<int32_t> encode(const std::string& text) const = 0;
  virtual std::string decode(std::span<const int32_t> ids) const = 0;
  // A readable name for a token; blanks and newlines are made visible.
  virtual std::string name(int32_t id) const = 0;
};

// The distinct characters of a text, in the order of their code points, as Python's
// sorted(set(text)).
class CharTokenizer final : public Tokenizer {
 public:
  // The text must be valid UTF-8 (see check_utf8).
  explicit CharTokenizer(std::string_view corpus);

  int64_t vocab_size() const override { return static_cast<int64_t>(characters_.size()); }
  // Throws ConfigError naming a character that the corpus does not contain, and its position.
  std::vector<int32_t> encode(const std::string& text) const override;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string name(int32_t id) const override;

  // The id of a character; -1 if it is not in the corpus.
  int32_t id_of(char32_t character) const;

 private:
  [[noreturn]] void throw_unknown(char32_t character, int64_t position) const;

  std::u32string characters_;    // by id
  std::vector<int32_t> direct_;  // ids of the characters below U+0800; -1: not in the corpus
};

// The 256 byte values. Decoded text may start or end in the middle of a character.
class ByteTokenizer final : public Tokenizer {
 public:
  int64_t vocab_size() const override { return 256; }
  std::vector<int32_t> encode(const std::string& text) const override;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string name(int32_t id) const override;
};

// Returns the number of characters. Throws IoError, starting with `where`, that names the position
// and line of the first invalid byte.
int64_t check_utf8(std::string_view text, const std::string& where);

}  // namespace heed
