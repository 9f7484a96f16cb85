// manifest.json, the list of files in a checkpoint folder; written last.
//   {"format": 1, "heedgrad": "0.3.0", "precision": "float32", "step": 500,
//    "files": {"model.safetensors": {"bytes": 1234, "xxh64": "<16 digits>"}, ...},
//    "made_with": {"kernels": "our own, fused", ...}, "seconds": 12.5,
//    "xxh64": "<of this object without this key, as compact JSON with sorted keys>"}
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "train/files/files.h"

namespace heed {

struct Manifest {
  static constexpr int64_t format = 1;

  std::string version;    // of heedgrad
  std::string precision;  // "float32" or "float64"
  int64_t step = 0;
  std::map<std::string, Fingerprint> files = {};
  std::map<std::string, std::string> made_with = {};  // LoadedRun::made_with(), of a run
  double seconds = 0;                                 // of training
};

void write_manifest(const std::filesystem::path& folder, const Manifest& manifest);

// Throws IoError if the manifest is missing, damaged or of an unknown format.
Manifest read_manifest(const std::filesystem::path& folder);

// How thoroughly to check: file sizes only, or every byte.
enum class Check { sizes, contents };

// Throws IoError for the first file that is missing or differs from what was written.
void check_files(const std::filesystem::path& folder, const Manifest& manifest, Check check);

}  // namespace heed
