// The JSON header of a safetensors file, read and written. Part of train/files/safetensors.h.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "train/files/safetensors.h"

namespace heed {

struct SafeTensorsHeader {
  std::vector<TensorInfo> tensors;  // sorted by begin, then end
  std::vector<uint32_t> by_name;    // indices into tensors, sorted by name; no name twice
  Metadata metadata;
};

// Checks everything that the header says by itself: JSON, fields, names, shapes, sizes. Takes
// memory in proportion to the header. Throws IoError "path: rule (got ...)".
SafeTensorsHeader parse_safetensors_header(const std::string& path, const std::string& json);

// The ranges of the sorted tensors must fill [0, data_bytes) without holes and without overlap.
void check_safetensors_data(const std::string& path, const std::vector<TensorInfo>& sorted,
                            int64_t data_bytes);

// The header of tensors laid out in this order, padded with spaces to a multiple of 8 bytes. Throws
// IoError for what parse_safetensors_header would refuse.
std::string safetensors_header(const std::string& path, const std::vector<TensorInfo>& tensors,
                               const Metadata& metadata);

}  // namespace heed
