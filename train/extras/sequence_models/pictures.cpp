#include "train/extras/sequence_models/pictures.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "train/data/data_file.h"
#include "train/files/human_readable.h"
#include "train/files/safetensors.h"

namespace heed {

namespace {

namespace fs = std::filesystem;

// "F32 (6, 3)"
std::string of_tensor(const TensorInfo& info) {
  return text(dtype_name(info.dtype), " ", shape_text(info.shape));
}

// ---- IDX

constexpr size_t word_bytes = 4;

uint32_t big_endian(const std::string& bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < word_bytes; ++i) {
    value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  }
  return value;
}

// The extents of an IDX file of bytes with this many axes, whose data begin after them.
std::vector<int64_t> idx_extents(const std::string& bytes, const std::string& path, size_t rank) {
  std::string first;
  for (size_t i = 0; i < std::min(word_bytes, bytes.size()); ++i) {
    first += text(i > 0 ? " " : "", static_cast<int>(static_cast<uint8_t>(bytes[i])));
  }
  require<IoError>(!first.starts_with("31 139"), path,
                   ": expected an IDX file, got one that gzip has packed; gunzip it first");
  require<IoError>(first == text("0 0 8 ", rank), path, ": expected an IDX file of ",
                   rank == 1 ? "labels" : "pictures", ", which begins with the bytes 0 0 8 ", rank,
                   ", got ", first.empty() ? "an empty file" : first);
  const size_t header = (rank + 1) * word_bytes;
  require<IoError>(bytes.size() >= header, path, ": expected ", header, " bytes or more, got ",
                   bytes.size());
  std::vector<int64_t> extents;
  int64_t size = 1;
  for (size_t axis = 0; axis < rank; ++axis) {
    extents.push_back(big_endian(bytes, (axis + 1) * word_bytes));
    size = saturated_product(size, extents.back());
  }
  require<IoError>(size > 0, path, ": expected at least one on every axis, got ",
                   shape_text(extents));
  const auto found = static_cast<int64_t>(bytes.size() - header);
  require<IoError>(found == size, path, ": expected ", size, " bytes after the header, for ",
                   shape_text(extents), ", got ", found);
  return extents;
}

// "train-labels-idx1-ubyte" for "train-images-idx3-ubyte".
fs::path labels_of(const fs::path& images) {
  std::string name = images.filename().string();
  for (const auto& [from, to] : {std::pair{"images", "labels"}, std::pair{"idx3", "idx1"}}) {
    const size_t at = name.rfind(from);
    require<IoError>(at != std::string::npos, images.string(), ": expected *.safetensors, or a ",
                     "name with images and idx3 in it, such as train-images-idx3-ubyte, next to ",
                     "which the labels are, train-labels-idx1-ubyte");
    name.replace(at, std::string_view(from).size(), to);
  }
  return images.parent_path() / name;
}

}  // namespace

Pictures::Pictures(const fs::path& path, const std::string& expected) {
  constexpr int64_t copies = 3;  // the file, its pictures, and a part as numbers
  std::string bytes = open_data_file(path, copies).whole();
  require_fingerprint(path, fingerprint(as_bytes(bytes)), expected);
  if (in_lower_case(path.extension().string()) == ".safetensors") {
    read_safetensors(std::move(bytes), path.string());
  } else {
    read_idx(bytes, path);
  }
}

void Pictures::read_idx(const std::string& bytes, const fs::path& path) {
  const fs::path path_of_labels = labels_of(path);
  const std::vector<int64_t> extents = idx_extents(bytes, path.string(), 3);
  const std::string labels = open_data_file(path_of_labels, 1).whole();
  const int64_t count = idx_extents(labels, path_of_labels.string(), 1)[0];
  require<IoError>(count == extents[0], path_of_labels.string(), ": expected ", extents[0],
                   " labels, one for each picture of ", path.filename().string(), ", got ", count);
  shape_ = {extents[0], 1, extents[1], extents[2]};
  bytes_.assign(bytes.begin() + 4 * word_bytes, bytes.end());
  std::transform(labels.begin() + 2 * word_bytes, labels.end(), std::back_inserter(labels_),
                 [](char label) { return static_cast<uint8_t>(label); });
}

void Pictures::read_safetensors(std::string bytes, const std::string& path) {
  const SafeTensors file(std::move(bytes), path);
  const TensorInfo &images = file.at("images"), &labels = file.at("labels");
  for (const std::string& name : file.names()) {
    require<IoError>(name == "images" || name == "labels", path,
                     ": expected the tensors images and labels alone, got also \"", name, "\"");
  }
  const size_t rank = images.shape.size();
  const bool empty = std::count(images.shape.begin(), images.shape.end(), 0) > 0;
  require<IoError>(
      (rank == 3 || rank == 4) && !empty && (images.dtype == Dtype::U8 || is_float(images.dtype)),
      path, ": expected images (N, H, W) or (N, C, H, W) of U8 or of numbers (F64, ",
      "F32, F16 or BF16), at least one on every axis; got ", of_tensor(images));
  const bool whole =
      labels.dtype == Dtype::U8 || labels.dtype == Dtype::I32 || labels.dtype == Dtype::I64;
  require<IoError>(whole && labels.shape == std::vector{images.shape[0]}, path,
                   ": expected labels (", images.shape[0], ") of I64, I32 or U8, one for each of ",
                   "the images ", of_tensor(images), "; got ", of_tensor(labels));
  shape_ =
      rank == 4 ? Shape(images.shape) : Shape{images.shape[0], 1, images.shape[1], images.shape[2]};
  if (images.dtype == Dtype::U8) {
    const std::vector<std::byte> stored = file.bytes("images");
    std::transform(stored.begin(), stored.end(), std::back_inserter(bytes_),
                   [](std::byte value) { return static_cast<uint8_t>(value); });
  } else {
    numbers_ = file.array("images").reshaped(shape_);
    const auto wrong = std::find_if(numbers_.span().begin(), numbers_.span().end(),
                                    [](real v) { return !std::isfinite(v); });
    require<IoError>(wrong == numbers_.span().end(), path, ": expected finite numbers in images, ",
                     "got another one in image ",
                     (wrong - numbers_.span().begin()) / (numbers_.size() / shape_[0]));
  }
  const std::vector<int64_t> all = file.integers("labels");
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  for (size_t i = 0; i < all.size(); ++i) {
    require<IoError>(all[i] >= 0 && all[i] < most, path, ": expected labels from 0 on, got ",
                     all[i], " as labels[", i, "]");
    labels_.push_back(static_cast<int32_t>(all[i]));
  }
}

real Pictures::largest() const {
  if (!numbers_) return 1;
  const std::span<const real> all = numbers_.span();
  return *std::max_element(all.begin(), all.end());
}

Array Pictures::rows(std::span<const int64_t> which) const {
  Array rows = Array::uninitialised(shape_.with(0, static_cast<int64_t>(which.size())));
  if (dry_run()) {
    return rows;
  }
  const int64_t size = shape_.size() / shape_[0];
  real* to = rows.mutable_data();
  for (const int64_t i : which) {
    to = numbers_ ? std::copy_n(numbers_.data() + i * size, size, to)
                  : std::transform(bytes_.begin() + i * size, bytes_.begin() + (i + 1) * size, to,
                                   [](uint8_t value) { return static_cast<real>(value) / 255; });
  }
  return rows;
}

}  // namespace heed
