#include "train/wings/tokens/tokens_task.h"

#include <algorithm>
#include <bit>

#include "train/data/data_file.h"
#include "train/files/words.h"

namespace heed {

namespace {

constexpr double largest_vocabulary = 1 << 30;

template <class Id>
Id little_endian(Id id) {
  if constexpr (std::endian::native == std::endian::little) {
    return id;
  }
  Id swapped = 0;
  for (size_t byte = 0; byte < sizeof id; ++byte) {
    swapped = static_cast<Id>(swapped << 8 | (id >> 8 * byte & 0xFF));
  }
  return swapped;
}

// Id: uint16_t or uint32_t.
template <class Id>
TokenRow read_tokens(const TokensTask::Config& c, const std::filesystem::path& path) {
  constexpr int64_t bits = 8 * sizeof(Id);
  const FileReader file = open_data_file(path, 1);
  require<IoError>(file.size() % static_cast<int64_t>(sizeof(Id)) == 0, path.string(),
                   ": expected ", bits, "-bit ids, so ",
                   bits == 16 ? "an even number of bytes" : "4 bytes each", ", got ", file.size());
  std::vector<Id> ids(static_cast<size_t>(file.size()) / sizeof(Id));
  file.read(0, std::as_writable_bytes(std::span(ids)));
  require_fingerprint(path, std::as_bytes(std::span(ids)), c.fingerprint);
  std::transform(ids.begin(), ids.end(), ids.begin(), little_endian<Id>);
  const auto wrong =
      std::find_if(ids.begin(), ids.end(), [&](Id id) { return id >= c.vocab_size; });
  require<IoError>(wrong == ids.end(), path.string(), ": expected ids below vocab_size ",
                   c.vocab_size, ", got ", wrong == ids.end() ? 0 : *wrong, " as token ",
                   wrong - ids.begin(), " (from 0)");
  return TokenRow(std::move(ids));
}

}  // namespace

void TokensTask::Config::fields(Fields& f) {
  f.required("path", path,
             "file of little-endian ids, 16 bits each, or 32 if vocab_size is above 65536");
  f.required("vocab_size", vocab_size, in_range(1, largest_vocabulary),
             "different tokens there are");
  windows.fields(f);
  f.optional("fingerprint", fingerprint,
             "size and hash of the file; a run's own config has it and refuses another file");
}

TokensTask::TokensTask(const Config& c, const TaskSetup& setup)
    : path_(setup.config_folder / c.path), vocab_size_(c.vocab_size) {
  const bool wide = c.vocab_size > int64_t{1} << 16;
  set_tokens(wide ? read_tokens<uint32_t>(c, path_) : read_tokens<uint16_t>(c, path_), c.windows,
             setup.batch_size);
}

std::string TokensTask::description() const {
  return text(path_.filename().string(), ": ", grouped(token_count()), " tokens out of ",
              grouped(vocab_size_));
}

}  // namespace heed
