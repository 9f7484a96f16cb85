// Text as tokens: what every tokenizer does, and the two without a vocabulary file, one token a
// character or one a byte.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

// Text in, tokens out, and back.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual int64_t vocab_size() const = 0;
  // Throws ConfigError that names a character the tokenizer does not know.
  virtual std::vector<int32_t> encode(const std::string& text) const = 0;
  virtual std::string decode(std::span<const int32_t> ids) const = 0;
  // One token for people: visible where it is a blank or a newline.
  virtual std::string name(int32_t id) const = 0;
};

// The different characters of a text in the order of their code points, as sorted(set(text)) gives
// them in Python.
class CharTokenizer final : public Tokenizer {
 public:
  // The text must be valid UTF-8 (see check_utf8).
  explicit CharTokenizer(std::string_view corpus);

  int64_t vocab_size() const override { return static_cast<int64_t>(characters_.size()); }
  // Throws ConfigError for a character that the corpus has not, naming it and its place.
  std::vector<int32_t> encode(const std::string& text) const override;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string name(int32_t id) const override;

  // The id of a character, -1 when the corpus has none.
  int32_t id_of(char32_t character) const;

 private:
  [[noreturn]] void throw_unknown(char32_t character, int64_t place) const;

  std::u32string characters_;    // by id
  std::vector<int32_t> direct_;  // ids of the characters below U+0800; -1: none
};

// The 256 bytes. Decoded text is cut anywhere, so it may begin or end within a character.
class ByteTokenizer final : public Tokenizer {
 public:
  int64_t vocab_size() const override { return 256; }
  std::vector<int32_t> encode(const std::string& text) const override;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string name(int32_t id) const override;
};

// Throws IoError that begins with `where` and names the byte and the line of the first byte that is
// no UTF-8. Returns the number of characters.
int64_t check_utf8(std::string_view text, const std::string& where);

}  // namespace heed
