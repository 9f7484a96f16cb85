// Byte pair encoding: tokens that are frequent parts of words. The vocabulary comes from a file,
// that of a published model or one that `heed tokenizer train` made. The parts are in bpe/.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/extras/bpe/train/added_tokens.h"
#include "tools/extras/bpe/train/merges.h"
#include "tools/extras/bpe/train/model.h"
#include "tools/extras/bpe/train/splitter.h"
#include "train/tokenizers/tokenizer.h"

namespace heed {

// What encoding does with special tokens ("<|endoftext|>") that a text contains.
enum class SpecialTokens { as_text, as_tokens };

// Encodes any bytes: those that are not UTF-8 become the tokens of their bytes. Decoded text may
// start or end in the middle of a character.
class BpeTokenizer final : public Tokenizer {
 public:
  static constexpr const char* help = "parts of words, from a tokenizer file: byte pair encoding";

  struct Config {
    std::string path;
    bool special_tokens = false;
    std::string fingerprint;
    void fields(Fields& f);
  };

  // Throws IoError for a file that is missing, damaged or has another fingerprint.
  BpeTokenizer(const Config& c, const TokenizerSetup& setup);
  // `where` begins messages about the patterns and merges of the model.
  BpeTokenizer(BpeModel model, const std::string& where,
               SpecialTokens special = SpecialTokens::as_text);
  BpeTokenizer(const BpeTokenizer&) = delete;
  BpeTokenizer& operator=(const BpeTokenizer&) = delete;
  ~BpeTokenizer() override;

  int64_t vocab_size() const override { return static_cast<int64_t>(model_.tokens.size()); }
  std::vector<int32_t> encode(const std::string& text) const override;
  // With several threads.
  void encode_in_parts(std::string_view text, const Each& each) const override;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string name(int32_t id) const override;
  std::string stored() const override;

  // The bytes of a token.
  const std::string& bytes(int32_t id) const;
  const BpeModel& model() const { return model_; }

 private:
  class Encoder;
  class Encoders;
  void encode_plain(std::string_view text, const Each& each) const;
  void encode_characters(std::string_view text, const Each& each) const;

  const BpeModel model_;
  const Splitter splitter_;
  const Merges merges_;
  const AddedTokens looked_for_;
  const std::unique_ptr<Encoders> encoders_;
};
HEED_TOKENIZER(BpeTokenizer, "bpe");

}  // namespace heed
