#include "tools/extras/bpe/train/read.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "autograd/base/error.h"
#include "tools/extras/bpe/train/read_json.h"
#include "train/files/files.h"

namespace heed {

namespace fs = std::filesystem;

namespace {

// GPT-2's two files, of the vocabulary and of the merges, under each of their names.
constexpr std::array<std::pair<const char*, const char*>, 2> gpt2_files{
    {{"vocab.json", "merges.txt"}, {"encoder.json", "vocab.bpe"}}};

// True for a tokenizer.json, whatever its name is: a vocabulary of GPT-2 may have a token "model",
// but its value is a number.
bool is_tokenizer_json(const fs::path& path) {
  if (!is_there(path)) {
    return false;
  }
  const std::string contents = read_file(path, most_tokenizer_bytes);
  const auto skip_blanks = [&](size_t at) { return contents.find_first_not_of(" \t\r\n", at); };
  const std::string key = "\"model\"";
  for (size_t at = contents.find(key); at != std::string::npos; at = contents.find(key, at + 1)) {
    const size_t colon = skip_blanks(at + key.size());
    const size_t value = colon == std::string::npos ? colon : skip_blanks(colon + 1);
    if (value != std::string::npos && contents[colon] == ':' && contents[value] == '{') {
      return true;
    }
  }
  return false;
}

// A path as Python writes it.
std::string in_python(const fs::path& path) {
  return nlohmann::json(path.string())
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

[[noreturn]] void refuse_format(const fs::path& path, const std::string& format,
                                const std::string& packages, const std::string& python) {
  fail<IoError>(path.string(), ": expected a tokenizer.json, got ", format,
                "; these lines of Python (pip install ", packages, ") convert it:\n", python,
                "\n  tokenizer.save(", in_python(path.parent_path() / "tokenizer.json"), ")");
}

void refuse_tiktoken(const fs::path& path) {
  if (path.extension() == ".tiktoken" && !is_tokenizer_json(path)) {
    refuse_format(path, "a file of tiktoken's", "transformers tiktoken",
                  text("  from transformers.convert_slow_tokenizer import TikTokenConverter\n"
                       "  tokenizer = TikTokenConverter(",
                       in_python(path),
                       ").converted()  # cuts as GPT-4 does; others: pattern=..., "
                       "extra_special_tokens=[...]"));
  }
}

void refuse_pair(const fs::path& path) {
  const std::string name = path.filename().string();
  for (const auto& [vocabulary, merges] : gpt2_files) {
    for (const std::string ending : {vocabulary, merges}) {
      if (name.ends_with(ending) && !is_tokenizer_json(path)) {
        const std::string begin = name.substr(0, name.size() - ending.size());
        refuse_format(
            path, "one of two files as GPT-2 has them", "transformers",
            text("  from transformers import GPT2TokenizerFast\n"
                 "  tokenizer = GPT2TokenizerFast(",
                 in_python(path.parent_path() / (begin + vocabulary)), ", ",
                 in_python(path.parent_path() / (begin + merges)), ").backend_tokenizer"));
      }
    }
  }
}

}  // namespace

BpeModel read_bpe(const fs::path& path) {
  std::error_code error;
  const fs::path inside = fs::is_directory(path, error) ? find_tokenizer(path) : fs::path();
  const fs::path file = inside.empty() ? path : inside;
  refuse_tiktoken(file);
  refuse_pair(file);
  return bpe_from_json(read_file(path, most_tokenizer_bytes), path.string());
}

fs::path find_tokenizer(const fs::path& folder) {
  for (const char* name : {"tokenizer.json", "vocab.json", "encoder.json"}) {
    if (is_there(folder / name)) {
      return folder / name;
    }
  }
  std::error_code error;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".tiktoken") {
      found.push_back(entry.path());
    }
  }
  return found.empty() ? fs::path() : *std::min_element(found.begin(), found.end());
}

}  // namespace heed
