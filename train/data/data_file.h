// Data files of tasks: a memory check before reading, and identification by fingerprint.
#pragma once

#include "train/files/files.h"

namespace heed {

// The words of other tools for the path of a file, for 1 minus the share to train on, and for the
// path of a file to validate with.
inline const std::vector<std::string> path_words{"file",      "filename",   "data_path", "dataset",
                                                 "data_file", "train_file", "data_dir",  "train"},
    validation_words{"val_split", "val_fraction", "validation_split"},
    validation_file_words{"val", "val_file", "val_path", "validation_file", "eval_file"};

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
