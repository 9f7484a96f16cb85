// The text around an instruction, as a model reads it.
#pragma once

#include <string>
#include <vector>

namespace heed {

struct Instruction {
  std::string instruction;
  std::string input;  // "": there is none
};

class PromptTemplate {
 public:
  // text: "alpaca" or "phi3", as in chapter 7 of the book, or a text with {instruction} and {input}
  // in it, where {{ and }} are braces. without_input: the text for instructions without an input;
  // "": the same, with nothing for {input}. Throws ConfigError.
  explicit PromptTemplate(const std::string& text, const std::string& without_input = "");

  std::string fill(const Instruction& row) const;
  // False: an input would be lost.
  bool takes_input() const { return takes_input_; }
  // What is before and after the fields.
  std::string before(bool with_input) const;
  std::string after(bool with_input) const;

 private:
  struct Piece {
    enum class Kind { text, instruction, input } kind;
    std::string text;
  };
  static std::vector<Piece> pieces_of(const std::string& text);

  std::vector<Piece> with_input_, without_input_;
  bool takes_input_ = false;
};

}  // namespace heed
