// Reads and writes the JSON header of a safetensors file. Part of train/files/safetensors.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/files/safetensors.h"

namespace heed {

struct SafeTensorsHeader {
  std::vector<TensorInfo> tensors;  // sorted by begin, then end; no name twice
  Metadata metadata;
};

// Parses a header and checks everything that does not depend on the file: JSON, fields, names,
// shapes, sizes. Memory use is proportional to the header. Throws IoError "path: rule (got ...)".
SafeTensorsHeader parse_safetensors_header(const std::string& path, const std::string& json);

// Throws unless the sorted tensors fill [0, data_bytes) without gaps or overlaps.
void check_safetensors_data(const std::string& path, const std::vector<TensorInfo>& sorted,
                            int64_t data_bytes);

// The header for tensors stored in this order, padded with spaces to a multiple of 8 bytes. Throws
// IoError for anything parse_safetensors_header would refuse.
std::string safetensors_header(const std::string& path, const std::vector<TensorInfo>& tensors,
                               const Metadata& metadata);

}  // namespace heed
