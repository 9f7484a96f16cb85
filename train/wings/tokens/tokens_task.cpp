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

// Throws IoError for a file of ids that begins with something else: NumPy's header, or one of 256
// numbers of 32 bits as llm.c writes it, of which only the first few are not 0.
void require_no_header(std::span<const std::byte> bytes, const std::string& path) {
  const std::string_view begin(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  require<IoError>(!begin.starts_with("\x93NUMPY"), path, ": expected nothing but ids, got a file ",
                   "of NumPy's: in Python, numpy.load(path).tofile(other) writes the ids alone");
  constexpr size_t header = 1024, used = 64;
  const bool zeros =
      begin.size() > header &&
      begin.substr(used, header - used).find_first_not_of('\0') == std::string_view::npos;
  const bool all_zeros = begin.substr(0, used).find_first_not_of('\0') == std::string_view::npos;
  require<IoError>(!zeros || all_zeros, path, ": expected nothing but ids, got ", header - used,
                   " zero bytes after the first ", used, ": a header of 256 numbers? ", "tail -c +",
                   header + 1, " writes what is after it");
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
  require_no_header(std::as_bytes(std::span(ids)), path.string());
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
  f.required("path", path, "file of little-endian ids and nothing else");
  f.required("vocab_size", vocab_size, in_range(1, largest_vocabulary),
             "different tokens there are");
  f.choice("dtype", dtype, {"auto", "uint16", "uint32"},
           "of an id; auto: uint32 if vocab_size is above 65536");
  windows.fields(f);
  f.optional("fingerprint", fingerprint,
             "size and hash of the file; a run's own config has it and refuses another file");
}

TokensTask::TokensTask(const Config& c, const TaskSetup& setup)
    : path_(setup.config_folder / c.path),
      vocab_size_(c.vocab_size),
      bits_(c.dtype == "uint32" || (c.dtype == "auto" && c.vocab_size > int64_t{1} << 16) ? 32
                                                                                          : 16) {
  set_tokens(bits_ == 32 ? read_tokens<uint32_t>(c, path_) : read_tokens<uint16_t>(c, path_),
             c.windows, setup.batch_size);
}

std::string TokensTask::description() const {
  return text(path_.filename().string(), ": ", grouped(token_count()), " tokens out of ",
              grouped(vocab_size_), ", ", bits_, " bits each");
}

std::vector<std::string> TokensTask::warnings() const {
  constexpr size_t least = 16;  // tokens that say something
  std::vector<int32_t> ids(static_cast<size_t>(std::min<int64_t>(token_count(), 1 << 16)));
  tokens().copy(0, ids);
  size_t odd = 1, even = 0;  // the first that are not 0
  while (odd < ids.size() && ids[odd] == 0) {
    odd += 2;
  }
  while (even < ids.size() && ids[even] == 0) {
    even += 2;
  }
  if (ids.size() < least || odd < ids.size() || even >= ids.size()) {
    return {};
  }
  return {bits_ == 32
              ? "every second id is 0: are the ids of 64 bits? expected ids of 16 or 32 bits"
              : "every second id is 0: are the ids of 32 bits? data.dtype: uint32 reads them"};
}

}  // namespace heed
