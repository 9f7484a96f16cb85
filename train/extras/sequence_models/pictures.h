// Pictures with a class each, from files:
//   *.safetensors   images (N, H, W) or (N, C, H, W), of U8, or of F64, F32, F16 or BF16;
//                   labels (N) of I64, I32 or U8
//   other names     two files of IDX, the format of MNIST (http://yann.lecun.com/exdb/mnist):
//                   the pictures, whose name has "images" and "idx3" in it, are the bytes 0 0 8 3,
//                   then N, H and W as 32-bit numbers, big-endian, then N H W bytes;
//                   the labels, in a file with "labels" and "idx1" in their place, are 0 0 8 1, N,
//                   and N bytes
// Every failure is an IoError, "path: the rule in words, got ...".
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "autograd/array/array.h"

namespace heed {

class Pictures {
 public:
  // A file with another fingerprint than `expected` ("": any) is refused.
  Pictures(const std::filesystem::path& path, const std::string& expected);

  int64_t size() const { return shape_[0]; }
  int64_t channels() const { return shape_[1]; }
  int64_t height() const { return shape_[2]; }
  int64_t width() const { return shape_[3]; }
  const Shape& shape() const { return shape_; }  // (N, channels, height, width)

  // Pictures `which`, (n, channels, height, width). Bytes become numbers from 0 to 1, as in
  // torchvision's ToTensor.
  Array rows(std::span<const int64_t> which) const;
  // The largest number of all; of bytes 1.
  real largest() const;
  // The label of each picture, at least 0.
  const std::vector<int32_t>& labels() const { return labels_; }

 private:
  void read_safetensors(std::string bytes, const std::string& path);
  void read_idx(const std::string& bytes, const std::filesystem::path& path);

  Shape shape_;
  std::vector<uint8_t> bytes_;  // either these
  Array numbers_;               // or these
  std::vector<int32_t> labels_;
};

}  // namespace heed
