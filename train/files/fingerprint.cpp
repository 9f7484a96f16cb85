#include "train/files/fingerprint.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "autograd/base/error.h"
#include "train/files/files.h"

namespace heed {

std::string Fingerprint::text() const {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(xxh64));
  return heed::text("xxh64:", digits, ":", bytes);
}

Fingerprint fingerprint(Bytes bytes) {
  Xxh64 hash;
  hash.update(bytes);
  return {static_cast<int64_t>(bytes.size()), hash.digest()};
}

Fingerprint fingerprint_file(const std::filesystem::path& path) {
  constexpr size_t most_at_once = size_t{1} << 17;
  const FileReader file(path);
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(
      std::min(most_at_once, static_cast<size_t>(file.size())));
  Xxh64 hash;
  for (int64_t offset = 0; offset < file.size();) {
    const auto count = std::min(most_at_once, static_cast<size_t>(file.size() - offset));
    file.read(offset, {buffer.get(), count});
    hash.update({buffer.get(), count});
    offset += static_cast<int64_t>(count);
  }
  return {file.size(), hash.digest()};
}

}  // namespace heed
