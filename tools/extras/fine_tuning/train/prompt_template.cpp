#include "tools/extras/fine_tuning/train/prompt_template.h"

#include <algorithm>
#include <map>
#include <utility>

#include "autograd/base/error.h"
#include "layers/text/display.h"

namespace heed {

namespace {

// format_input() of the book's listing 7.2 and exercise 7.1: with and without an input.
const std::map<std::string, std::pair<std::string, std::string>>& named_templates() {
  static const std::string alpaca =
      "Below is an instruction that describes a task. Write a response that appropriately "
      "completes the request.\n\n### Instruction:\n{instruction}";
  static const std::map<std::string, std::pair<std::string, std::string>> named{
      {"alpaca",
       {alpaca + "\n\n### Input:\n{input}\n\n### Response:\n", alpaca + "\n\n### Response:\n"}},
      {"phi3",
       {"<|user|>\n{instruction}\n{input}\n<|assistant|>\n",
        "<|user|>\n{instruction}\n<|assistant|>\n"}}};
  return named;
}

}  // namespace

PromptTemplate::PromptTemplate(const std::string& text, const std::string& without_input) {
  const auto named = named_templates().find(text);
  if (named != named_templates().end()) {
    require<ConfigError>(without_input.empty(), "template_without_input has no effect with ", text,
                         ", which has its own; leave it out");
    with_input_ = pieces_of(named->second.first);
    without_input_ = pieces_of(named->second.second);
  } else {
    if (text.find('{') == std::string::npos) {
      const std::string near = nearest(text, {"alpaca", "phi3"});
      fail<ConfigError>("expected alpaca, phi3 or a text with {instruction}, got ", printable(text),
                        near.empty() ? "" : "; did you mean " + printable(near) + "?");
    }
    with_input_ = pieces_of(text);
    without_input_ = pieces_of(without_input.empty() ? text : without_input);
  }
  takes_input_ = std::any_of(with_input_.begin(), with_input_.end(),
                             [](const Piece& piece) { return piece.kind == Piece::Kind::input; });
}

std::vector<PromptTemplate::Piece> PromptTemplate::pieces_of(const std::string& text) {
  std::vector<Piece> pieces{{Piece::Kind::text, ""}};
  bool has_instruction = false;
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '{' && text[at] != '}') {
      pieces.back().text += text[at++];
      continue;
    }
    if (at + 1 < text.size() && text[at + 1] == text[at]) {
      pieces.back().text += text[at];
      at += 2;
      continue;
    }
    const size_t end = text.find('}', at + 1);
    require<ConfigError>(
        text[at] == '{' && end != std::string::npos, "expected { and } around the ",
        "name of a field, got one of them alone; as part of the text, it is ", "written twice");
    const std::string name = text.substr(at + 1, end - at - 1);
    const std::string near = nearest(name, {"instruction", "input"});
    require<ConfigError>(name == "instruction" || name == "input",
                         "expected {instruction} or {input}, got {", printable(name), "}",
                         name == "output" ? "; the answer follows the template"
                         : near.empty()   ? ""
                                          : "; did you mean {" + near + "}?");
    has_instruction = has_instruction || name == "instruction";
    pieces.push_back({name == "input" ? Piece::Kind::input : Piece::Kind::instruction, ""});
    pieces.push_back({Piece::Kind::text, ""});
    at = end + 1;
  }
  require<ConfigError>(has_instruction, "expected a text with {instruction}, got ",
                       printable(text));
  return pieces;
}

std::string PromptTemplate::fill(const Instruction& row) const {
  std::string filled;
  for (const Piece& piece : row.input.empty() ? without_input_ : with_input_) {
    filled += piece.kind == Piece::Kind::text          ? piece.text
              : piece.kind == Piece::Kind::instruction ? row.instruction
                                                       : row.input;
  }
  return filled;
}

std::string PromptTemplate::before(bool with_input) const {
  return (with_input ? with_input_ : without_input_).front().text;
}

std::string PromptTemplate::after(bool with_input) const {
  return (with_input ? with_input_ : without_input_).back().text;
}

}  // namespace heed
