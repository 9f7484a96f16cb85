// Values without a graph: a shape and a shared, 64-byte aligned, contiguous, row-major buffer.
#pragma once

#include <algorithm>
#include <span>

#include "autograd/array/shape.h"
#include "autograd/array/storage.h"
#include "autograd/base/modes.h"
#include "autograd/base/real.h"

namespace heed {

// Copies share the buffer. Each copy remembers the version that the buffer had. Once the elements
// were rewritten through another copy (mutable_data, Tensor::mutable_value), reading through this
// one throws GraphError. So a backward cannot use any value, id or mask but the one that its
// forward saved.
template <class T>
class BasicArray {
 public:
  BasicArray() = default;

  static BasicArray uninitialised(const Shape& shape) {
    BasicArray a;
    a.shape_ = shape;
    a.storage_ = StorageRef(Storage::make(sizeof(T) * static_cast<size_t>(shape.size())));
    return a;
  }

  static BasicArray full(const Shape& shape, T value) {
    BasicArray a = uninitialised(shape);
    if (!dry_run()) {
      std::fill_n(a.mutable_data(), shape.size(), value);
    }
    return a;
  }

  static BasicArray zeros(const Shape& shape) { return full(shape, T{0}); }

  static BasicArray from(const Shape& shape, std::span<const T> values) {
    require(static_cast<int64_t>(values.size()) == shape.size(), "array: expected ", shape.size(),
            " values for shape ", shape, ", got ", values.size());
    BasicArray a = uninitialised(shape);
    std::copy(values.begin(), values.end(), a.mutable_data());
    return a;
  }

  static BasicArray from(const Shape& shape, std::initializer_list<T> values) {
    return from(shape, std::span(values.begin(), values.size()));
  }

  explicit operator bool() const { return static_cast<bool>(storage_); }

  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  int64_t size() const { return shape_.size(); }
  int64_t dim(int axis) const { return shape_[axis]; }

  const T* data() const {
    if (!storage_ || storage_->version != version_) [[unlikely]] {
      throw_unreadable();
    }
    return begin();
  }
  std::span<const T> span() const { return {data(), static_cast<size_t>(size())}; }

  // The elements, to be written. If other copies share the buffer, reading them throws from now on.
  T* mutable_data() {
    if (!unique()) [[unlikely]] {
      if (!storage_) throw_unreadable();
      version_ = ++storage_->version;
    }
    return begin();
  }

  // The same elements under another shape of the same size; shares the buffer.
  BasicArray reshaped(const Shape& shape) const {
    require(shape.size() == size(), "reshape: expected ", size(), " elements as in ", shape_,
            ", got ", shape);
    return prefix(shape);
  }

  // The first shape.size() elements under another shape; shares the buffer.
  BasicArray prefix(const Shape& shape) const {
    require(shape.size() <= size(), "prefix: expected at most ", size(), " elements as in ", shape_,
            ", got ", shape);
    BasicArray a = *this;
    a.shape_ = shape;
    return a;
  }

  BasicArray clone() const {
    BasicArray a = uninitialised(shape_);
    if (!dry_run()) {
      std::copy_n(data(), size(), a.mutable_data());
    }
    return a;
  }

  // True if no other array shares the buffer, so that it can be overwritten in place.
  bool unique() const { return storage_ && storage_->refs == 1; }

  // A copy that reads what the buffer holds now (see the class comment). For an operation: what it
  // was given may have been rewritten since, what it saves may not.
  BasicArray current() const {
    BasicArray a = *this;
    a.version_ = storage_ ? storage_->version : 0;
    return a;
  }

 private:
  T* begin() const { return reinterpret_cast<T*>(storage_->bytes()); }

  [[noreturn]] void throw_unreadable() const {
    require<GraphError>(static_cast<bool>(storage_), "expected elements, got an empty array");
    fail<GraphError>("a saved value of shape ", shape_, " was changed after it was used: version ",
                     version_, " was saved, the value is now at version ", storage_->version);
  }

  Shape shape_;
  StorageRef storage_;
  uint32_t version_ = 0;
};

using Array = BasicArray<real>;
using Ids = BasicArray<int32_t>;   // token ids
using Mask = BasicArray<uint8_t>;  // 1: may attend, 0: may not

}  // namespace heed
