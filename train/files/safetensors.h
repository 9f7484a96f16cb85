// The safetensors format (https://github.com/huggingface/safetensors), named tensors in one file:
//   8 bytes    the header length N, little-endian
//   N bytes    JSON {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
//   the rest   the data
// Every failure is an IoError, "path: the rule in words (got ...)".
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
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

// In the order of the reference implementation, which writes the last of them first.
enum class Dtype { BOOL, U8, F16, BF16, I32, F32, F64, I64 };

std::string_view dtype_name(Dtype dtype);
int64_t dtype_size(Dtype dtype);  // in bytes
bool is_float(Dtype dtype);       // F64, F32, F16 or BF16
// As a Shape is printed, which has fewer axes: "(2, 3)", "(4,)".
std::string shape_text(const std::vector<int64_t>& dims);

struct TensorInfo {
  std::string name;
  Dtype dtype = Dtype::F32;
  std::vector<int64_t> shape;  // up to 8 axes; empty for a scalar
  int64_t begin = 0;           // its bytes are [begin, end) of the data after the header
  int64_t end = 0;
};

// "x[0, 2, 1]" for element i of the tensor x, which has these axes.
std::string element_name(const std::string& name, const Shape& shape, int64_t i);

namespace safetensors_limits {
inline constexpr int64_t header_bytes = 100'000'000;  // as in the reference implementation
inline constexpr size_t name_bytes = 512;             // without control characters
inline constexpr size_t rank = 8;
inline constexpr size_t tensors = 65'536;
inline constexpr size_t metadata_entries = 65'536;
inline constexpr int64_t extent = int64_t{1} << 40;
}  // namespace safetensors_limits

// Opening a file checks the whole header against the file size before any memory is allocated for
// data. All later reads are within the file. Data may contain NaN and infinities.
class SafeTensors {
 public:
  explicit SafeTensors(const std::filesystem::path& path);

  // A file that is already in memory. `name` is used as the path in messages.
  SafeTensors(std::string bytes, std::string name);

  SafeTensors(SafeTensors&&) = default;
  SafeTensors& operator=(SafeTensors&&) = default;

  const std::string& path() const { return path_; }

  // In the order of their data.
  const std::vector<TensorInfo>& tensors() const& { return tensors_; }
  void tensors() const&& = delete;  // a loop over those of a temporary
  std::vector<std::string> names() const;
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  const TensorInfo* find(std::string_view name) const;  // null if there is none
  const TensorInfo& at(std::string_view name) const;    // throws, suggesting the nearest name

  Array array(std::string_view name) const;  // from F64, F32, F16 and BF16, converted to real
  // The same, into existing memory of out.size() == the number of elements.
  void copy(std::string_view name, std::span<real> out) const;

  Ids ids(std::string_view name) const;    // from I64, I32 and U8; must fit 32 bits
  Mask mask(std::string_view name) const;  // from BOOL, or U8 (nonzero is 1)

  std::vector<int64_t> integers(std::string_view name) const;  // from I64, I32 and U8
  std::vector<std::byte> bytes(std::string_view name) const;   // as stored; any dtype

 private:
  void open();
  void read(int64_t offset, std::span<std::byte> out) const;
  void copy_floats(const TensorInfo& info, real* out) const;
  template <class T, class Element>
  void convert(const TensorInfo& info, Element&& element) const;

  std::string path_;
  std::optional<FileReader> file_;  // either this
  std::string memory_;              // or these bytes
  int64_t data_start_ = 0;
  std::vector<TensorInfo> tensors_;
  std::map<std::string, size_t, std::less<>> by_name_;  // indices into tensors_
  std::map<std::string, std::string> metadata_;
};

// A tensor to write. Those made by view() share or own their data; others only refer to memory.
struct TensorView {
  std::string name;
  Dtype dtype = Dtype::F32;
  std::vector<int64_t> shape;
  Bytes data;
  std::shared_ptr<const void> owner = nullptr;
};

TensorView view(std::string name, const Array& array);             // F32 or F64, as real
TensorView view(std::string name, const Ids& ids);                 // I32
TensorView view(std::string name, const Mask& mask);               // BOOL
TensorView view(std::string name, std::vector<int64_t> integers);  // I64, one axis

using Metadata = std::map<std::string, std::string>;

// Writes, atomically and without copying the data, the same bytes as the reference implementation
// (whose metadata has no fixed order; here it is sorted).
Fingerprint write_safetensors(const std::filesystem::path& path, std::vector<TensorView> tensors,
                              const Metadata& metadata = {});

// The same bytes in memory. `name` is used as the path in messages.
std::string to_safetensors(const std::string& name, std::vector<TensorView> tensors,
                           const Metadata& metadata = {});

}  // namespace heed
