// Data files of tasks: a memory check before reading, and identification by fingerprint.
#pragma once

#include "train/files/files.h"

namespace heed {

// What the field `fingerprint` is.
inline constexpr const char* fingerprint_help =
    "size and hash of the file; a run's own config has it and refuses another file";

// Opens a file. Throws IoError if it cannot be read, and TaskError("path", ...) if `factor` times
// its size, with `more` bytes of other files, exceeds the memory that this machine has left.
FileReader open_data_file(const std::filesystem::path& path, int64_t factor, int64_t more = 0);

// Throws IoError naming both fingerprints if they differ. `expected` "" accepts any bytes.
void require_fingerprint(const std::filesystem::path& path, const Fingerprint& found,
                         const std::string& expected);

}  // namespace heed
