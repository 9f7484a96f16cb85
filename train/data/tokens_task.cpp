#include "train/data/tokens_task.h"

#include <algorithm>
#include <bit>

#include "train/data/data_file.h"
#include "train/files/words.h"

namespace heed {

namespace {

TokenRow read_tokens(const TokensTask::Config& c, const std::filesystem::path& path) {
  const FileReader file = open_data_file(path, 1);
  require<IoError>(file.size() % 2 == 0, path.string(),
                   ": expected 16-bit ids, so an even number of bytes, got ", file.size());
  std::vector<uint16_t> ids(static_cast<size_t>(file.size() / 2));
  file.read(0, std::as_writable_bytes(std::span(ids)));
  require_fingerprint(path, std::as_bytes(std::span(ids)), c.fingerprint);
  if constexpr (std::endian::native == std::endian::big) {
    for (uint16_t& id : ids) {
      id = static_cast<uint16_t>(id << 8 | id >> 8);
    }
  }
  const auto wrong =
      std::find_if(ids.begin(), ids.end(), [&](uint16_t id) { return id >= c.vocab_size; });
  require<IoError>(wrong == ids.end(), path.string(), ": expected ids below vocab_size ",
                   c.vocab_size, ", got ", wrong == ids.end() ? 0 : *wrong, " as token ",
                   wrong - ids.begin(), " (from 0)");
  return TokenRow(std::move(ids));
}

}  // namespace

void TokensTask::Config::fields(Fields& f) {
  f.required("path", path, "file of little-endian 16-bit ids, relative to the config's folder");
  f.required("vocab_size", vocab_size, in_range(1, 65536), "different tokens there are");
  windows.fields(f);
  f.optional("fingerprint", fingerprint,
             "size and hash of the file; a run's own config has it and refuses another file");
}

TokensTask::TokensTask(const Config& c, const TaskSetup& setup)
    : path_(setup.config_folder / c.path), vocab_size_(c.vocab_size) {
  set_tokens(read_tokens(c, path_), c.windows, setup.batch_size);
}

std::string TokensTask::description() const {
  return text(path_.filename().string(), ": ", grouped(token_count()), " tokens out of ",
              grouped(vocab_size_));
}

}  // namespace heed
