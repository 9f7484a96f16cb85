#include "train/wings/bpe/read.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "autograd/base/error.h"
#include "layers/text/display.h"
#include "train/files/files.h"
#include "train/wings/bpe/merges.h"
#include "train/wings/bpe/read_json.h"
#include "train/wings/bpe/vocabulary.h"

namespace heed {

namespace fs = std::filesystem;

namespace {

// RFC 4648; nullopt if it is not base64.
std::optional<std::string> from_base64(std::string_view text) {
  while (text.ends_with('=')) {
    text.remove_suffix(1);
  }
  const std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t held = 0;
  int bits = 0;
  for (const char c : text) {
    const size_t digit = digits.find(c);
    if (digit == std::string_view::npos) {
      return std::nullopt;
    }
    held = held << 6 | static_cast<uint32_t>(digit);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>(held >> bits & 0xFF);
    }
  }
  return text.size() % 4 == 1 ? std::nullopt : std::optional(bytes);
}

// What a .tiktoken file leaves to the program that reads it.
struct Encoding {
  const char* name;
  const char* pattern;
  std::vector<AddedToken> special;
};

const Encoding& encoding_of(const std::string& name) {
  static const std::array<Encoding, 4> known{
      {{"r50k", gpt2_pattern, {{50256, "<|endoftext|>"}}},
       {"p50k", gpt2_pattern, {{50256, "<|endoftext|>"}}},
       {"cl100k",
        gpt4_pattern,
        {{100257, "<|endoftext|>"},
         {100258, "<|fim_prefix|>"},
         {100259, "<|fim_middle|>"},
         {100260, "<|fim_suffix|>"},
         {100276, "<|endofprompt|>"}}},
       {"o200k", gpt4o_pattern, {{199999, "<|endoftext|>"}, {200018, "<|endofprompt|>"}}}}};
  static const Encoding other{"", gpt4_pattern, {}};
  const auto found = std::find_if(known.begin(), known.end(), [&](const Encoding& each) {
    return name.starts_with(each.name);
  });
  return found == known.end() ? other : *found;
}

// Every way to put a token together from two others is a merge: tiktoken asks only whether two
// neighbours are a token together.
void add_merges(BpeModel& model) {
  const auto ids = ids_by_token(model);
  for (const std::string& token : model.tokens) {
    for (size_t cut = 1; cut < token.size(); ++cut) {
      const auto left = ids.find(token.substr(0, cut)), right = ids.find(token.substr(cut));
      if (left != ids.end() && right != ids.end()) {
        model.merges.emplace_back(left->second, right->second);
      }
    }
  }
}

// A token as people read it: a .tiktoken file has it in base64.
std::string in_quotes(std::string_view bytes) { return text("\"", bytes, "\""); }

constexpr size_t most_token_bytes = 1000;  // add_merges tries every cut

void read_line(std::string_view line, const std::string& place, VocabularyBuilder& builder) {
  const size_t blank = line.find(' ');
  const std::optional<std::string> bytes = from_base64(line.substr(0, blank));
  const std::string_view digits =
      blank == std::string_view::npos ? std::string_view() : line.substr(blank + 1);
  int64_t id = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  require<IoError>(bytes && whole && !digits.empty(), place,
                   ": expected a token in base64 and its rank, got ", printable(line));
  require<IoError>(bytes->size() <= most_token_bytes, place, ": expected a token of at most ",
                   most_token_bytes, " bytes, got ", bytes->size());
  const std::string problem = builder.add(id, *bytes);
  require<IoError>(problem.empty(), place, ": ", problem);
}

// The sibling of one of GPT-2's two files, in the first spelling that is there.
fs::path sibling(const fs::path& path, const std::string& ending,
                 const std::vector<std::string>& others) {
  const std::string name = path.filename().string();
  const std::string begin = name.substr(0, name.size() - ending.size());
  for (const std::string& other : others) {
    if (is_there(path.parent_path() / (begin + other))) {
      return path.parent_path() / (begin + other);
    }
  }
  fail<IoError>(path.string(), ": expected ", begin, others[0], " or ", begin, others[1],
                " next to it, got neither");
}

BpeModel read_pair(const fs::path& vocabulary, const fs::path& merges) {
  return bpe_from_vocabulary(read_file(vocabulary, most_tokenizer_bytes), vocabulary.string(),
                             read_file(merges, most_tokenizer_bytes), merges.string());
}

}  // namespace

BpeModel bpe_from_tiktoken(std::string_view text, const std::string& where,
                           const std::string& name) {
  const Encoding& encoding = encoding_of(name);
  BpeModel model;
  model.ranked_by_result = model.whole_pieces = true;
  model.rules = {{encoding.pattern, SplitRule::Keep::all}};
  VocabularyBuilder builder(model, std::count(text.begin(), text.end(), '\n') + 1, in_quotes);
  for (int64_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    if (!line.empty()) {
      read_line(line, heed::text(where, ":", number), builder);
    }
  }
  require<IoError>(!model.tokens.empty(), where, ": expected tokens, got an empty file");
  add_merges(model);
  // A smaller vocabulary of that name is somebody else's.
  const bool whole = !encoding.special.empty() &&
                     encoding.special.front().id <= static_cast<int32_t>(model.tokens.size());
  for (const AddedToken& special : whole ? encoding.special : std::vector<AddedToken>()) {
    const std::string problem = builder.add(special);
    require<IoError>(problem.empty(), where, ": ", special.content, ": ", problem);
  }
  return model;
}

BpeModel read_bpe(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name.ends_with(".tiktoken")) {
    return bpe_from_tiktoken(read_file(path, most_tokenizer_bytes), path.string(), name);
  }
  for (const std::string ending : {"vocab.json", "encoder.json"}) {
    if (name.ends_with(ending)) {
      return read_pair(path, sibling(path, ending, {"merges.txt", "vocab.bpe"}));
    }
  }
  for (const std::string ending : {"merges.txt", "vocab.bpe"}) {
    if (name.ends_with(ending)) {
      return read_pair(sibling(path, ending, {"vocab.json", "encoder.json"}), path);
    }
  }
  return bpe_from_json(read_file(path, most_tokenizer_bytes), path.string());
}

}  // namespace heed
