#include "tools/extras/own_data/train/tokens_task.h"

#include <algorithm>

#include "tools/extras/own_data/train/token_file.h"
#include "train/data/data_file.h"
#include "train/files/human_readable.h"

namespace heed {

namespace {

constexpr double largest_vocabulary = 1 << 30;

struct TokenFile {
  TokenRow row;
  std::optional<Zeros> zeros, zeros_of_two;  // of ids, and of two in a row as one
};

// Id: uint16_t or uint32_t. The file is little-endian, as this machine is (files/safetensors.cpp).
template <class Id>
TokenFile read_tokens(const TokensTask::Config& c, const std::filesystem::path& path) {
  constexpr int64_t bits = 8 * sizeof(Id);
  const FileReader file = open_data_file(path, 1);
  const auto size = static_cast<size_t>(file.size());
  std::vector<Id> ids((size + sizeof(Id) - 1) / sizeof(Id));
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(ids)).first(size);
  file.read(0, bytes);
  const std::string instead = instead_of_ids(bytes);
  require<IoError>(instead.empty(), path.string(), ": expected nothing but ids, got ", instead);
  require<IoError>(size % sizeof(Id) == 0, path.string(), ": expected ", bits, "-bit ids, so ",
                   bits == 16 ? "an even number of bytes" : "4 bytes each", ", got ", size);
  require<IoError>(bits != 16 || c.dtype != "auto" || !are_ids_of_8_bits(bytes), path.string(),
                   ": ", what_8_bits_are, "; data.dtype: uint16 reads the file as it is");
  require_fingerprint(path, fingerprint(bytes), c.fingerprint);
  const std::optional<Zeros> zeros = every_second_zero(bytes, sizeof(Id)),
                             zeros_of_two = every_second_zero(bytes, 2 * sizeof(Id));
  const auto wrong =
      std::find_if(ids.begin(), ids.end(), [&](Id id) { return id >= c.vocab_size; });
  require<IoError>(wrong == ids.end(), path.string(), ": expected ids below vocab_size ",
                   c.vocab_size, ", got ", wrong == ids.end() ? 0 : *wrong, " as token ",
                   wrong - ids.begin(), " (from 0)");
  return {TokenRow(std::move(ids)), zeros, zeros_of_two};
}

}  // namespace

void TokensTask::Config::fields(Fields& f) {
  f.required("path", path, "file of little-endian ids and nothing else");
  f.required("vocab_size", vocab_size, in_range(1, largest_vocabulary),
             "different tokens there are");
  f.choice("dtype", dtype, {"auto", "uint16", "uint32"},
           "of an id; auto: uint32 if vocab_size is above 65536");
  windows.fields(f);
  f.optional("fingerprint", fingerprint, fingerprint_help);
}

TokensTask::TokensTask(const Config& c, const TaskSetup& setup)
    : path_(setup.config_folder / c.path),
      vocab_size_(c.vocab_size),
      bits_(c.dtype == "uint32" || (c.dtype == "auto" && c.vocab_size > int64_t{1} << 16) ? 32
                                                                                          : 16) {
  if (setup.data == TaskSetup::Data::absent) {
    data_ = std::make_unique<NoExamples>(Shape{1, c.windows.context_length});
    return;
  }
  files_ = {path_};
  TokenFile ids = bits_ == 32 ? read_tokens<uint32_t>(c, path_) : read_tokens<uint16_t>(c, path_);
  if (ids.zeros) {
    const bool of_64 = bits_ == 32 || ids.zeros_of_two == Zeros::second;
    const std::string instead =
        *ids.zeros == Zeros::first ? first_is_zero
        : of_64 ? text("are the ids of 64 bits? in Python, numpy.fromfile(path, 'int64').astype(",
                       "'uint", bits_, "').tofile(other) writes them")
                : "are the ids of 32 bits? data.dtype: uint32 reads them";
    warnings_.push_back(text("every second id is 0: ", instead));
  }
  tokens_ = ids.row.size();
  data_ = std::make_unique<Windows>(std::move(ids.row), c.windows, setup.batch_size);
}

std::string TokensTask::description() const {
  return text(
      files_.empty() ? "ids" : path_.filename().string() + ": " + grouped(tokens_) + " tokens",
      " out of ", grouped(vocab_size_), ", ", bits_, " bits each");
}

}  // namespace heed
