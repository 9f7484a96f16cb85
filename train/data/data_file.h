// Data files of tasks: opened when there is memory for them, and recognised again.
#pragma once

#include "train/files/files.h"

namespace heed {

// Throws IoError for a file that cannot be read, and TaskError("path", ...) when `factor` times its
// size is more than the memory this machine has left.
FileReader open_data_file(const std::filesystem::path& path, int64_t factor);

// Throws IoError that names both unless `expected` is "" or the fingerprint of the bytes.
void require_fingerprint(const std::filesystem::path& path, Bytes bytes,
                         const std::string& expected);

}  // namespace heed
