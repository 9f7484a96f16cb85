#include "train/files/safetensors.h"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <utility>

#include "autograd/base/error.h"
#include "train/files/safetensors_header.h"

namespace heed {

namespace limits = safetensors_limits;

static_assert(std::endian::native == std::endian::little, "data are read and written as they are");

namespace {

constexpr size_t chunk_elements = size_t{1} << 16;

struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};

// IEEE 754 binary16: 1 sign, 5 exponent (bias 15), 10 fraction bits.
float widened(Half half) {
  const uint32_t sign = static_cast<uint32_t>(half.bits & 0x8000) << 16;
  const uint32_t exponent = (half.bits >> 10) & 0x1f;
  const uint32_t fraction = half.bits & 0x3ff;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  const uint32_t rebiased = exponent == 0x1f ? 0xff : exponent + (127 - 15);
  return std::bit_cast<float>(sign | (rebiased << 23) | (fraction << 13));
}

// bfloat16: the upper half of a binary32.
float widened(BFloat value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16);
}

template <class T>
T widened(T value) {
  return value;
}

}  // namespace

bool is_float(Dtype dtype) {
  return dtype == Dtype::F64 || dtype == Dtype::F32 || dtype == Dtype::F16 || dtype == Dtype::BF16;
}

std::string shape_text(const std::vector<int64_t>& dims) {
  std::string out = "(";
  for (size_t i = 0; i < dims.size(); ++i) {
    out += (i == 0 ? "" : ", ") + std::to_string(dims[i]);
  }
  return out + (dims.size() == 1 ? ",)" : ")");
}

// ---- Reading

SafeTensors::SafeTensors(const std::filesystem::path& path)
    : path_(path.string()), file_(std::in_place, path) {
  open();
}

SafeTensors::SafeTensors(std::string bytes, std::string name)
    : path_(std::move(name)), memory_(std::move(bytes)) {
  open();
}

void SafeTensors::read(int64_t offset, std::span<std::byte> out) const {
  if (file_) {
    file_->read(offset, out);
  } else {
    const Bytes bytes = as_bytes(memory_);
    std::copy_n(bytes.begin() + offset, out.size(), out.begin());
  }
}

void SafeTensors::open() {
  const int64_t size = file_ ? file_->size() : static_cast<int64_t>(memory_.size());
  require<IoError>(size >= 8, path_, ": the file must begin with 8 bytes of header length (got ",
                   size, " bytes)");
  uint64_t length = 0;
  read(0, std::as_writable_bytes(std::span(&length, 1)));
  char begin = '{';
  if (length > limits::header_bytes && size > 8) {
    read(8, std::as_writable_bytes(std::span(&begin, 1)));
  }
  require<IoError>(begin == '{', path_, ": expected a safetensors file, got another: no header ",
                   "begins at byte 8");
  require<IoError>(length <= limits::header_bytes, path_, ": the header must have at most ",
                   limits::header_bytes, " bytes (got ", length, ")");
  data_start_ = 8 + static_cast<int64_t>(length);
  require<IoError>(data_start_ <= size, path_, ": the header of ", length,
                   " bytes must end inside the file (got a file of ", size, " bytes)");
  std::string json(length, '\0');
  read(8, std::as_writable_bytes(std::span(json)));

  SafeTensorsHeader header = parse_safetensors_header(path_, json);
  check_safetensors_data(path_, header.tensors, size - data_start_);
  tensors_ = std::move(header.tensors);
  for (size_t i = 0; i < tensors_.size(); ++i) {
    by_name_[tensors_[i].name] = i;
  }
  metadata_ = std::move(header.metadata);
}

std::vector<std::string> SafeTensors::names() const {
  std::vector<std::string> names;
  for (const TensorInfo& info : tensors_) {
    names.push_back(info.name);
  }
  return names;
}

const TensorInfo* SafeTensors::find(std::string_view name) const {
  const auto at = by_name_.find(name);
  return at != by_name_.end() ? &tensors_[at->second] : nullptr;
}

const TensorInfo& SafeTensors::at(std::string_view name) const {
  const TensorInfo* info = find(name);
  if (info == nullptr) {
    const std::string near = nearest(std::string(name), names());
    fail<IoError>(path_, ": no tensor \"", name, "\" among its ", tensors_.size(),
                  near.empty() ? "" : ", did you mean \"" + near + "\"?");
  }
  return *info;
}

namespace {

template <class T>
BasicArray<T> array_for(const std::string& path, const TensorInfo& info) {
  require<IoError>(info.shape.size() <= Shape::max_rank, path, ": tensor \"", info.name,
                   "\": expected at most ", Shape::max_rank, " axes (got ", info.shape.size(), ")");
  return BasicArray<T>::uninitialised(Shape(info.shape));
}

[[noreturn]] void fail_dtype(const std::string& path, const TensorInfo& info, const char* wanted) {
  fail<IoError>(path, ": tensor \"", info.name, "\": expected ", wanted, " (got ",
                dtype_name(info.dtype), ")");
}

}  // namespace

std::string element_name(const std::string& name, const Shape& shape, int64_t i) {
  std::string at;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    at = std::to_string(i % shape[axis]) + (at.empty() ? "" : ", ") + at;
    i /= shape[axis];
  }
  return text(name, "[", at, "]");
}

// Calls element(i, value) for every stored value, in order.
template <class T, class Element>
void SafeTensors::convert(const TensorInfo& info, Element&& element) const {
  std::vector<T> chunk(std::min(chunk_elements, static_cast<size_t>(info.end - info.begin)));
  const int64_t count = (info.end - info.begin) / static_cast<int64_t>(sizeof(T));
  for (int64_t start = 0; start < count; start += static_cast<int64_t>(chunk.size())) {
    const size_t n = std::min(chunk.size(), static_cast<size_t>(count - start));
    read(data_start_ + info.begin + start * static_cast<int64_t>(sizeof(T)),
         std::as_writable_bytes(std::span(chunk.data(), n)));
    for (size_t i = 0; i < n; ++i) {
      element(start + static_cast<int64_t>(i), chunk[i]);
    }
  }
}

void SafeTensors::copy_floats(const TensorInfo& info, real* out) const {
  const auto store = [&](int64_t i, auto value) {
    const auto number = widened(value);
    out[i] = static_cast<real>(number);
    if (!std::isfinite(out[i]) && std::isfinite(number)) {
      fail<IoError>(
          path_, ": expected finite numbers of float32, up to 3.4e38 (precision: float64 ",
          "has more), got ", number, " as ", element_name(info.name, Shape(info.shape), i));
    }
  };
  switch (info.dtype) {
    case (is_float64 ? Dtype::F64 : Dtype::F32):
      read(data_start_ + info.begin,
           {reinterpret_cast<std::byte*>(out), static_cast<size_t>(info.end - info.begin)});
      break;
    case (is_float64 ? Dtype::F32 : Dtype::F64):
      convert<std::conditional_t<is_float64, float, double>>(info, store);
      break;
    case Dtype::F16:
      convert<Half>(info, store);
      break;
    case Dtype::BF16:
      convert<BFloat>(info, store);
      break;
    default:
      fail_dtype(path_, info, "F64, F32, F16 or BF16");
  }
}

Array SafeTensors::array(std::string_view name) const {
  const TensorInfo& info = at(name);
  Array array = array_for<real>(path_, info);
  copy_floats(info, array.mutable_data());
  return array;
}

void SafeTensors::copy(std::string_view name, std::span<real> out) const {
  const TensorInfo& info = at(name);
  const int64_t count = (info.end - info.begin) / dtype_size(info.dtype);
  require<IoError>(count == static_cast<int64_t>(out.size()), path_, ": tensor \"", name,
                   "\": expected ", out.size(), " elements (got ", count, ")");
  copy_floats(info, out.data());
}

Ids SafeTensors::ids(std::string_view name) const {
  const TensorInfo& info = at(name);
  Ids ids = array_for<int32_t>(path_, info);
  int32_t* out = ids.mutable_data();
  for (const int64_t value : integers(name)) {
    require<IoError>(std::in_range<int32_t>(value), path_, ": tensor \"", info.name,
                     "\": expected ids of 32 bits (got ", value, " at element ", out - ids.data(),
                     ")");
    *out++ = static_cast<int32_t>(value);
  }
  return ids;
}

std::vector<int64_t> SafeTensors::integers(std::string_view name) const {
  const TensorInfo& info = at(name);
  std::vector<int64_t> integers;
  integers.reserve(static_cast<size_t>((info.end - info.begin) / dtype_size(info.dtype)));
  const auto store = [&](int64_t, auto value) { integers.push_back(value); };
  switch (info.dtype) {
    case Dtype::I64:
      convert<int64_t>(info, store);
      break;
    case Dtype::I32:
      convert<int32_t>(info, store);
      break;
    case Dtype::U8:
      convert<uint8_t>(info, store);
      break;
    default:
      fail_dtype(path_, info, "I64, I32 or U8");
  }
  return integers;
}

Mask SafeTensors::mask(std::string_view name) const {
  const TensorInfo& info = at(name);
  if (info.dtype != Dtype::BOOL && info.dtype != Dtype::U8) {
    fail_dtype(path_, info, "BOOL or U8");
  }
  Mask mask = array_for<uint8_t>(path_, info);
  uint8_t* out = mask.mutable_data();
  convert<uint8_t>(info, [&](int64_t i, uint8_t value) {
    require<IoError>(value <= 1 || info.dtype == Dtype::U8, path_, ": tensor \"", info.name,
                     "\": a BOOL must be 0 or 1 (got ", int{value}, " at element ", i, ")");
    out[i] = value != 0;
  });
  return mask;
}

std::vector<std::byte> SafeTensors::bytes(std::string_view name) const {
  const TensorInfo& info = at(name);
  std::vector<std::byte> bytes(static_cast<size_t>(info.end - info.begin));
  read(data_start_ + info.begin, bytes);
  return bytes;
}

// ---- Writing

namespace {

template <class A>
TensorView array_view(std::string name, Dtype dtype, const A& array) {
  const auto dims = array.shape().dims();
  const auto owner = std::make_shared<A>(array);
  return {std::move(name), dtype, {dims.begin(), dims.end()}, std::as_bytes(owner->span()), owner};
}

void emit(const std::string& path, std::vector<TensorView> tensors, const Metadata& metadata,
          const std::function<void(Bytes)>& sink) {
  // Sorts by alignment, largest first, so that every tensor is aligned; then by name.
  std::sort(tensors.begin(), tensors.end(), [](const TensorView& a, const TensorView& b) {
    return a.dtype != b.dtype ? a.dtype > b.dtype : a.name < b.name;
  });
  std::vector<TensorInfo> infos;
  int64_t offset = 0;
  for (const TensorView& tensor : tensors) {
    const int64_t end = offset + static_cast<int64_t>(tensor.data.size());
    infos.push_back({tensor.name, tensor.dtype, tensor.shape, offset, end});
    offset = end;
  }
  const std::string header = safetensors_header(path, infos, metadata);
  const uint64_t length = header.size();
  sink(std::as_bytes(std::span(&length, 1)));
  sink(as_bytes(header));
  for (const TensorView& tensor : tensors) {
    sink(tensor.data);
  }
}

}  // namespace

TensorView view(std::string name, const Array& array) {
  return array_view(std::move(name), is_float64 ? Dtype::F64 : Dtype::F32, array);
}

TensorView view(std::string name, const Ids& ids) {
  return array_view(std::move(name), Dtype::I32, ids);
}

TensorView view(std::string name, const Mask& mask) {
  return array_view(std::move(name), Dtype::BOOL, mask);
}

TensorView view(std::string name, std::vector<int64_t> integers) {
  const auto owner = std::make_shared<std::vector<int64_t>>(std::move(integers));
  return {
      std::move(name), Dtype::I64, {std::ssize(*owner)}, std::as_bytes(std::span(*owner)), owner};
}

Fingerprint write_safetensors(const std::filesystem::path& path, std::vector<TensorView> tensors,
                              const Metadata& metadata) {
  return write_file_atomically(path, [&](FileWriter& out) {
    emit(path.string(), std::move(tensors), metadata, [&](Bytes part) { out.write(part); });
  });
}

std::string to_safetensors(const std::string& name, std::vector<TensorView> tensors,
                           const Metadata& metadata) {
  std::string bytes;
  emit(name, std::move(tensors), metadata,
       [&](Bytes part) { bytes.append(reinterpret_cast<const char*>(part.data()), part.size()); });
  return bytes;
}

}  // namespace heed
