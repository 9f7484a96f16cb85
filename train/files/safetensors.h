// Tensors by name in one file: the safetensors format
// (https://github.com/huggingface/safetensors): 8 bytes of header length N, little-endian; N bytes
// of JSON, {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}; the data.
// Every failure is an IoError, "path: the rule in words (got ...)".
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "autograd/array/array.h"
#include "train/files/files.h"

namespace heed {

// In the order of the reference implementation, whose writer puts the last of them first.
enum class Dtype { BOOL, U8, F16, BF16, I32, F32, F64, I64 };

std::string_view dtype_name(Dtype dtype);
int64_t dtype_size(Dtype dtype);  // in bytes

struct TensorInfo {
  std::string name;
  Dtype dtype = Dtype::F32;
  std::vector<int64_t> shape;  // up to 8 axes; empty for a single number
  int64_t begin = 0;           // its bytes are [begin, end) of the data, which follow the header
  int64_t end = 0;
};

namespace safetensors_limits {
inline constexpr int64_t header_bytes = 100'000'000;    // as the reference implementation
inline constexpr size_t token_bytes = size_t{1} << 24;  // of one string, one number
inline constexpr size_t name_bytes = 512;               // and no control characters
inline constexpr size_t rank = 8;
inline constexpr size_t tensors = 65'536;
inline constexpr size_t metadata_entries = 65'536;
inline constexpr int64_t extent = int64_t{1} << 40;
}  // namespace safetensors_limits

// Opening checks the whole header against the file before any memory is taken for data; what
// remains are reads of ranges known to lie inside the file. Data may hold NaN and infinities.
class SafeTensors {
 public:
  explicit SafeTensors(const std::filesystem::path& path);

  // A file that is already in memory; `name` stands for the path in messages.
  SafeTensors(std::string bytes, std::string name);

  SafeTensors(SafeTensors&&) = default;
  SafeTensors& operator=(SafeTensors&&) = default;

  const std::string& path() const { return path_; }

  // In the order of the data.
  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  std::vector<std::string> names() const;
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  const TensorInfo* find(std::string_view name) const;  // null when there is none
  const TensorInfo& at(std::string_view name) const;    // throws, naming the nearest

  Array array(std::string_view name) const;  // from F64, F32, F16 and BF16, converted to real
  // The same into memory that is there: out.size() is the number of elements.
  void copy(std::string_view name, std::span<real> out) const;

  Ids ids(std::string_view name) const;    // from I64, I32 and U8; must fit 32 bits
  Mask mask(std::string_view name) const;  // from BOOL, and from U8: 1 where not zero

  std::vector<int64_t> integers(std::string_view name) const;  // from I64, I32 and U8
  std::vector<std::byte> bytes(std::string_view name) const;   // as stored, of any dtype

 private:
  void open();
  void read(int64_t offset, std::span<std::byte> out) const;
  void copy_floats(const TensorInfo& info, real* out) const;
  template <class T, class Element>
  void convert(const TensorInfo& info, Element&& element) const;
  template <class Element>
  void for_each_integer(const TensorInfo& info, Element&& element) const;

  std::string path_;
  std::optional<FileReader> file_;  // either this
  std::string memory_;              // or these bytes
  int64_t data_start_ = 0;
  std::vector<TensorInfo> tensors_;
  std::vector<uint32_t> by_name_;  // indices into tensors_, sorted by name
  std::map<std::string, std::string> metadata_;
};

// A tensor to be written. Those made of arrays share the buffer; the others only point at theirs.
struct TensorView {
  std::string name;
  Dtype dtype = Dtype::F32;
  std::vector<int64_t> shape;
  Bytes data;
  std::shared_ptr<const void> owner = nullptr;
};

TensorView view(std::string name, const Array& array);                 // F32 or F64, as real
TensorView view(std::string name, const Ids& ids);                     // I32
TensorView view(std::string name, const Mask& mask);                   // BOOL
TensorView view(std::string name, std::span<const uint8_t> bytes);     // U8, one axis
TensorView view(std::string name, std::span<const int64_t> integers);  // I64, one axis

using Metadata = std::map<std::string, std::string>;

// Writes byte for byte what the reference implementation writes (its metadata come in no order;
// here they are sorted), atomically and without a copy of the data. `floats` (F32 or F64) is how
// to store F32 and F64 tensors; without it they are stored as they are.
Fingerprint write_safetensors(const std::filesystem::path& path, std::vector<TensorView> tensors,
                              const Metadata& metadata = {}, std::optional<Dtype> floats = {});

// The same bytes in memory. `name` stands for the path in messages.
std::string to_safetensors(const std::string& name, std::vector<TensorView> tensors,
                           const Metadata& metadata = {}, std::optional<Dtype> floats = {});

}  // namespace heed
