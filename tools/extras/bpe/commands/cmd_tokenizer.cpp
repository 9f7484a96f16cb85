// heed tokenizer: learns a byte pair encoding, turns files into token ids and back, shows the
// pieces of a text.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "autograd/base/rethrow.h"
#include "layers/text/display.h"
#include "layers/text/formatted.h"
#include "layers/text/utf8.h"
#include "tools/command.h"
#include "tools/extras/bpe/train/bpe_tokenizer.h"
#include "tools/extras/bpe/train/read.h"
#include "tools/extras/bpe/train/train.h"
#include "tools/extras/bpe/train/write.h"
#include "tools/extras/own_data/train/token_file.h"
#include "tools/extras/report/pages/heat_map.h"
#include "tools/extras/report/pages/output_file.h"
#include "tools/terminal/table.h"
#include "train/files/files.h"
#include "train/files/human_readable.h"

namespace heed::cli {

namespace {

namespace fs = std::filesystem;
using TokensJson = nlohmann::ordered_json;

constexpr int64_t most_ids_of_16_bits = 1 << 16;
constexpr int64_t most_file_bytes = int64_t{1} << 40;

struct TokenizerOptions {
  std::string action;
  std::vector<std::string> what;
  std::optional<std::string> tokenizer;
  std::optional<std::string> out;
  std::optional<int64_t> vocab;
  std::optional<std::string> pattern;
  std::vector<std::string> special;
  bool special_tokens = false;
  bool json = false;
};

void declare(Arguments& arguments, TokenizerOptions& o) {
  arguments
      .positional("ACTION", o.action,
                  "train FILE...: learn one; encode FILE, decode FILE: text to ids and back; show "
                  "TEXT: its tokens")
      .positionals("FILE", o.what, "the files, or the text of show")
      .option("--tokenizer", o.tokenizer, "of encode, decode, show: a tokenizer.json")
      .path()
      .option("--out", o.out, "the file to write (decode: default standard output)")
      .path()
      .option("--vocab", o.vocab,
              "of train, required: how many tokens in all: 256 bytes, special ones and merges")
      .option("--pattern", o.pattern, "of train: gpt2 (default) or gpt4, where pieces end")
      .option("--special", o.special,
              "of train: a special token, as '<|endoftext|>'; may be repeated")
      .flag("--special-tokens", o.special_tokens,
            "of encode, show: special tokens in the text become their ids")
      .flag("--json", o.json, "one JSON object on standard output");
}

// ---- The command line

struct Allowed {
  const char* option;
  bool given;
  std::vector<std::string> actions;
  bool needed = false;
};

void check(const TokenizerOptions& o) {
  const std::vector<std::string> actions{"train", "encode", "decode", "show"};
  require<ConfigError>(std::find(actions.begin(), actions.end(), o.action) != actions.end(),
                       "heed tokenizer: expected train, encode, decode or show, got ",
                       printable(o.action), did_you_mean(o.action, actions));
  const std::array<Allowed, 5> all{
      {{"--tokenizer", o.tokenizer.has_value(), {"encode", "decode", "show"}, true},
       {"--vocab", o.vocab.has_value(), {"train"}, true},
       {"--pattern", o.pattern.has_value(), {"train"}},
       {"--special", !o.special.empty(), {"train"}},
       {"--special-tokens", o.special_tokens, {"encode", "show"}}}};
  for (const Allowed& each : all) {
    const bool fits =
        std::find(each.actions.begin(), each.actions.end(), o.action) != each.actions.end();
    require<ConfigError>(fits || !each.given, "heed tokenizer ", o.action, ": ", each.option,
                         " has no effect; leave it out");
    require<ConfigError>(!fits || !each.needed || each.given, "heed tokenizer ", o.action,
                         ": expected ", each.option);
  }
  require<ConfigError>(o.action == "train" || o.what.size() == 1, "heed tokenizer ", o.action,
                       ": expected one ", o.action == "show" ? "TEXT, in quotes" : "FILE", ", got ",
                       o.what.size());
  require<ConfigError>(
      o.out || o.action == "show" || o.action == "decode" || (o.action == "encode" && o.json),
      "heed tokenizer ", o.action, ": expected --out, the file to write",
      o.action == "encode" ? ", or --json, for the ids on standard output" : "");
  require<ConfigError>(!o.out || o.action != "show", "heed tokenizer show: --out has no effect; ",
                       "leave it out");
  require<ConfigError>(
      !o.json || o.out || o.action != "decode",
      "heed tokenizer decode: --json is about the file that is written; give --out");
}

void check_out(const TokenizerOptions& o) {
  std::vector<InputFile> inputs;
  for (const std::string& file : o.what) {
    inputs.push_back({"the input", file});
  }
  if (o.tokenizer) {
    inputs.push_back({"--tokenizer", *o.tokenizer});
  }
  require_replaceable("heed tokenizer " + o.action + ": --out", *o.out, inputs);
}

BpeTokenizer tokenizer_of(const TokenizerOptions& o) {
  return {read_bpe(*o.tokenizer), *o.tokenizer,
          o.special_tokens ? SpecialTokens::as_tokens : SpecialTokens::as_text};
}

std::string per_token(int64_t bytes, int64_t tokens) {
  return formatted("%.2f",
                   static_cast<double>(bytes) / static_cast<double>(std::max<int64_t>(1, tokens)));
}

void say(const TokenizerOptions& o, const TokensJson& facts, const std::string& line) {
  print_line(o.json ? stderr : stdout, line);
  if (o.json) {
    print_object(facts);
  }
}

// ---- The actions

const char* pattern_called(const std::string& name) {
  const std::map<std::string, const char*> known{{"gpt2", gpt2_pattern}, {"gpt4", gpt4_pattern}};
  const auto found = known.find(name);
  require<ConfigError>(found != known.end(), "heed tokenizer train: expected --pattern gpt2 or ",
                       "gpt4, got ", printable(name));
  return found->second;
}

int train(const TokenizerOptions& o) {
  for (const std::string& special : o.special) {
    check_utf8(special, "--special");
  }
  BpeTraining options{.vocab_size = *o.vocab, .special = o.special};
  options.pattern = pattern_called(o.pattern.value_or("gpt2"));
  int64_t bytes = 0;
  const BpeModel model = with_place<ConfigError>("heed tokenizer train: ", [&] {
    BpeTrainer trainer(std::move(options));
    for (const std::string& file : o.what) {
      const std::string corpus = read_file(file, most_file_bytes);
      check_utf8(corpus, file);
      trainer.add(without_byte_order_mark(corpus));
      bytes += static_cast<int64_t>(corpus.size());
    }
    return trainer.train();
  });
  write_file_atomically(*o.out, bpe_to_json(model));
  const auto size = static_cast<int64_t>(model.tokens.size());
  const auto merges = static_cast<int64_t>(model.merges.size());
  say(o, {{"out", *o.out}, {"vocab_size", size}, {"merges", merges}, {"bytes", bytes}},
      text(*o.out, ": ", grouped(size), " tokens: 256 bytes, ", grouped(merges), " merges, ",
           o.special.size(), " special, from ", bytes_text(bytes), " of text",
           size < *o.vocab ? "; fewer than asked for: no other pair comes twice" : ""));
  return 0;
}

// Little-endian, as this machine is (train/files/safetensors.cpp).
template <class Id>
void write_ids(FileWriter& file, std::span<const int32_t> ids) {
  const std::vector<Id> stored(ids.begin(), ids.end());
  file.write(std::as_bytes(std::span(stored)));
}

int encode(const TokenizerOptions& o) {
  const BpeTokenizer tokenizer = tokenizer_of(o);
  const std::string& path = o.what.front();
  const std::string corpus = read_file(path, most_file_bytes);  // a byte order mark is text, too
  check_utf8(corpus, path);
  const auto bytes = static_cast<int64_t>(corpus.size());
  if (!o.out) {
    print_object(
        TokensJson{{"vocab_size", tokenizer.vocab_size()}, {"ids", tokenizer.encode(corpus)}});
    return 0;
  }
  const bool wide = tokenizer.vocab_size() > most_ids_of_16_bits;
  int64_t tokens = 0;
  write_file_atomically(*o.out, [&](FileWriter& file) {
    tokenizer.encode_in_parts(corpus, [&](std::span<const int32_t> ids) {
      wide ? write_ids<uint32_t>(file, ids) : write_ids<uint16_t>(file, ids);
      tokens += static_cast<int64_t>(ids.size());
    });
  });
  const int bits = wide ? 32 : 16;
  say(o,
      {{"out", *o.out},
       {"tokens", tokens},
       {"bytes", bytes},
       {"vocab_size", tokenizer.vocab_size()},
       {"bits", bits}},
      text(*o.out, ": ", grouped(tokens), " tokens of ", bits, " bits, little-endian",
           wide ? " (16 are not enough for " + grouped(tokenizer.vocab_size()) + " ids)" : "", ", ",
           per_token(bytes, tokens),
           " bytes of text each; to train on them:\n  data: {type: tokens, ", "path: ", *o.out,
           ", vocab_size: ", tokenizer.vocab_size(), "}"));
  return 0;
}

std::vector<int32_t> read_ids(const std::string& path, int64_t vocab_size) {
  const std::string bytes = read_file(path, most_file_bytes);
  const size_t width = vocab_size > most_ids_of_16_bits ? 4 : 2;
  const std::string instead = instead_of_ids(as_bytes(bytes));
  require<IoError>(instead.empty(), path, ": expected nothing but ids, got ", instead);
  require<IoError>(bytes.size() % width == 0, path, ": expected ids of ", 8 * width,
                   " bits, as the tokenizer has ", grouped(vocab_size), " tokens; got ",
                   bytes.size(), " bytes");
  require<IoError>(width == 4 || !are_ids_of_8_bits(as_bytes(bytes)), path, ": ", what_8_bits_are);
  const std::optional<Zeros> zeros = every_second_zero(as_bytes(bytes), width);
  require<IoError>(!zeros, path, ": expected ids of ", 8 * width, " bits, as the tokenizer has ",
                   grouped(vocab_size), " tokens; got every second one 0: ",
                   zeros == Zeros::first ? first_is_zero : text("ids of ", 16 * width, " bits?"));
  std::vector<int32_t> ids;
  ids.reserve(bytes.size() / width);
  for (size_t at = 0; at < bytes.size(); at += width) {
    uint32_t id = 0;
    std::memcpy(&id, bytes.data() + at, width);
    require<IoError>(id < vocab_size, path, ": expected ids below ", vocab_size, ", got ", id,
                     " as token ", at / width,
                     " (from 0); the file was made with another tokenizer");
    ids.push_back(static_cast<int32_t>(id));
  }
  return ids;
}

int decode(const TokenizerOptions& o) {
  const BpeTokenizer tokenizer = tokenizer_of(o);
  const std::vector<int32_t> ids = read_ids(o.what.front(), tokenizer.vocab_size());
  const std::string decoded = tokenizer.decode(ids);
  if (!o.out) {
    const std::string shown =
        isatty(STDOUT_FILENO) != 0 ? printable_lines(decoded, "\n\t") : decoded;
    std::fwrite(shown.data(), 1, shown.size(), stdout);
    return 0;
  }
  write_file_atomically(*o.out, decoded);
  const auto tokens = static_cast<int64_t>(ids.size()),
             bytes = static_cast<int64_t>(decoded.size());
  say(o, {{"out", *o.out}, {"tokens", tokens}, {"bytes", bytes}},
      text(*o.out, ": ", grouped(bytes), " bytes of text from ", grouped(tokens), " tokens"));
  return 0;
}

// The tokens next to each other, each on a background other than its neighbours', in lines of up to
// `width` columns.
std::string in_colours(const std::vector<std::string>& names, size_t width) {
  constexpr std::array<int, 4> colours{153, 223, 157, 225};  // pastel; black on them can be read
  std::string out;
  size_t columns = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    columns += display_width(names[i]);
    if (columns > width) {
      columns = display_width(names[i]);
      out += "\n";
    }
    out += text("\x1b[38;5;16;48;5;", colours[i % colours.size()], "m", names[i], "\x1b[0m");
  }
  return out;
}

int show(const TokenizerOptions& o) {
  const BpeTokenizer tokenizer = tokenizer_of(o);
  const std::string& given = o.what.front();
  const std::vector<int32_t> ids = tokenizer.encode(given);
  std::vector<std::string> names;
  std::string numbers, between;
  TokensJson tokens = TokensJson::array();
  for (const int32_t id : ids) {
    names.push_back(tokenizer.name(id));
    numbers += text(numbers.empty() ? "" : " ", id);
    between += (between.empty() ? "" : "|") + names.back();
    tokens.push_back({{"id", id}, {"text", names.back()}});
  }
  if (o.json) {
    std::printf("%s\n", TokensJson({{"tokens", tokens}}).dump().c_str());
    return 0;
  }
  // Names are visible characters only: nothing in them steers the terminal.
  const HeatMapStyle style = style_of_terminal();
  const auto width = static_cast<size_t>(style.width);
  std::printf("%s\n", (style.color ? in_colours(names, width) : between).c_str());
  print_text(numbers + "\n");
  std::printf("%zu tokens, %zu bytes\n", ids.size(), given.size());
  return 0;
}

int run(const TokenizerOptions& o) {
  check(o);
  if (o.out) {
    check_out(o);
  }
  return o.action == "train"    ? train(o)
         : o.action == "encode" ? encode(o)
         : o.action == "decode" ? decode(o)
                                : show(o);
}

}  // namespace

Command tokenizer_command() {
  return command<TokenizerOptions>("tokenizer", "learn, use and look at byte pair encodings",
                                   "heed tokenizer train my.txt --vocab 1024 --out tok.json\n"
                                   "  heed tokenizer show 'To be, or not' --tokenizer tok.json",
                                   declare, run, Group::train);
}

}  // namespace heed::cli
