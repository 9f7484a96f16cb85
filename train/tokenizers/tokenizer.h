// Tokenizers: the interface, and two without a vocabulary file, with one token per character or per
// byte.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layers/module/registry.h"
#include "train/files/run_files.h"

namespace heed {

// Converts text to token ids and back.
class Tokenizer {
 public:
  using Each = std::function<void(std::span<const int32_t> ids)>;

  virtual ~Tokenizer() = default;
  virtual int64_t vocab_size() const = 0;
  // What a token is: "character", "byte", "token".
  virtual const char* unit() const { return "token"; }
  // Throws ConfigError naming what is not in the vocabulary.
  virtual std::vector<int32_t> encode(const std::string& text) const = 0;
  // The same for a long text, whose ids come in parts.
  virtual void encode_in_parts(std::string_view text, const Each& each) const {
    each(encode(std::string(text)));
  }
  virtual std::string decode(std::span<const int32_t> ids) const = 0;
  // True if tokens are a text cut into pieces. Words are not: decode() puts blanks between them.
  virtual bool is_lossless() const { return true; }
  // A readable name for a token; blanks and newlines are made visible.
  virtual std::string name(int32_t id) const = 0;
  // What a checkpoint keeps: the tokenizer as the text of a file, stored_tokenizer; or the
  // vocabulary that follows from the data (vocabulary.h). "" if there is none.
  virtual std::string stored() const { return ""; }
  virtual std::string vocabulary() const { return ""; }
};

// What a tokenizer may need beyond its own fields.
struct TokenizerSetup {
  std::filesystem::path config_folder;       // base of relative paths
  std::filesystem::path checkpoint;          // has stored_tokenizer, which is taken; "": none
  std::span<const std::string_view> corpus;  // the texts to train on, valid UTF-8
  std::string vocabulary = {};               // to take in place of the corpus's; "": none
};

using TokenizerRegistry = Registry<Tokenizer, TokenizerSetup>;
TokenizerRegistry& tokenizer_registry();
void register_tokenizers(TokenizerRegistry& registry);

#define HEED_TOKENIZER(Class, name) \
  static_assert(std::is_base_of_v<heed::Tokenizer, Class>, name " must derive from Tokenizer")

// The distinct characters of a text, in the order of their code points, as Python's
// sorted(set(text)).
class CharTokenizer final : public Tokenizer {
 public:
  static constexpr const char* help = "a token for each character that the text has";
  using Config = NoFields;

  CharTokenizer(const Config&, const TokenizerSetup& setup);
  // The text must be valid UTF-8 (see check_utf8).
  explicit CharTokenizer(std::string_view corpus) : CharTokenizer(std::span(&corpus, 1)) {}

  int64_t vocab_size() const override { return static_cast<int64_t>(characters_.size()); }
  const char* unit() const override { return "character"; }
  // Throws ConfigError naming the characters that the corpus does not contain.
  std::vector<int32_t> encode(const std::string& text) const override;
  void encode_in_parts(std::string_view text, const Each& each) const override;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string name(int32_t id) const override;
  std::string vocabulary() const override;

  // The id of a character; -1 if it is not in the corpus.
  int32_t id_of(char32_t character) const;

 private:
  explicit CharTokenizer(std::span<const std::string_view> corpus);
  // False at a character that is not in the vocabulary.
  bool append_ids(std::string_view text, std::vector<int32_t>& ids) const;
  [[noreturn]] void throw_unknown(std::string_view text) const;

  std::u32string characters_;    // by id
  std::vector<int32_t> direct_;  // ids of the characters below U+0800; -1: not in the corpus
};
HEED_TOKENIZER(CharTokenizer, "char");

// The 256 byte values. Decoded text may start or end in the middle of a character.
class ByteTokenizer final : public Tokenizer {
 public:
  static constexpr const char* help = "a token for each byte";
  using Config = NoFields;

  ByteTokenizer() = default;
  ByteTokenizer(const Config&, const TokenizerSetup&) {}

  int64_t vocab_size() const override { return 256; }
  const char* unit() const override { return "byte"; }
  std::vector<int32_t> encode(const std::string& text) const override;
  void encode_in_parts(std::string_view text, const Each& each) const override;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string name(int32_t id) const override;
};
HEED_TOKENIZER(ByteTokenizer, "byte");

// A readable name for the bytes of a token: blanks and newlines are shown, bytes that are no
// character are written as \xE2.
std::string visible_bytes(std::string_view bytes);

// Throws IoError, starting with `where`, that names the position and line of the first byte that is
// no UTF-8.
void check_utf8(std::string_view text, const std::string& where);

}  // namespace heed
