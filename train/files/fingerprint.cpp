#include "train/files/fingerprint.h"

#include <xxhash.h>

#include <algorithm>
#include <new>

#include "autograd/base/error.h"
#include "layers/text/formatted.h"
#include "train/files/files.h"

namespace heed {

std::string Fingerprint::text() const {
  const auto hash = static_cast<unsigned long long>(xxh64);
  return heed::text("xxh64:", formatted("%016llx", hash), ":", bytes);
}

std::string Fingerprint::letters() const {
  std::string letters;
  for (int shift = 0; shift < 40; shift += 5) {
    letters += "abcdefghijkmnpqrstuvwxyz23456789"[xxh64 >> shift & 31];
  }
  return letters.insert(4, "-");
}

Fingerprint fingerprint(Bytes bytes) {
  return {static_cast<int64_t>(bytes.size()), XXH64(bytes.data(), bytes.size(), 0)};
}

Fingerprint fingerprint_file(const std::filesystem::path& path) {
  constexpr size_t most_at_once = size_t{1} << 17;
  const FileReader file(path);
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(
      std::min(most_at_once, static_cast<size_t>(file.size())));
  RunningFingerprint print;
  for (int64_t offset = 0; offset < file.size();) {
    const auto count = std::min(most_at_once, static_cast<size_t>(file.size() - offset));
    file.read(offset, {buffer.get(), count});
    print.add({buffer.get(), count});
    offset += static_cast<int64_t>(count);
  }
  return print.so_far();
}

RunningFingerprint::RunningFingerprint() : state_(XXH64_createState()) {
  if (state_ == nullptr) {
    throw std::bad_alloc();
  }
  XXH64_reset(state_.get(), 0);
}

void RunningFingerprint::add(Bytes bytes) {
  XXH64_update(state_.get(), bytes.data(), bytes.size());
  bytes_ += static_cast<int64_t>(bytes.size());
}

Fingerprint RunningFingerprint::so_far() const { return {bytes_, XXH64_digest(state_.get())}; }

void RunningFingerprint::Free::operator()(XXH64_state_s* state) const { XXH64_freeState(state); }

}  // namespace heed
