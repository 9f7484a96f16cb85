// Any bytes as a safetensors file. Refused, the message names the file and the rule; taken, all of
// it can be read, and what is written from it is read as the same.
#include <algorithm>

#include "autograd/base/error.h"
#include "tests/fuzz/fuzz.h"
#include "train/files/safetensors.h"

using namespace heed;
using heed::fuzz::expect;

namespace {

// The tensors as floats, ids, masks and integers, where they are such; each conversion may refuse.
void read_all(const SafeTensors& file) {
  for (const TensorInfo& info : file.tensors()) {
    const auto elements =
        static_cast<size_t>(info.end - info.begin) / static_cast<size_t>(dtype_size(info.dtype));
    int taken = 0;
    const auto attempt = [&](size_t got) {
      expect(got == elements, "every element");
      ++taken;
    };
    try {
      attempt(static_cast<size_t>(file.array(info.name).size()));
    } catch (const Error&) {
    }
    try {
      attempt(static_cast<size_t>(file.ids(info.name).size()));
    } catch (const Error&) {
    }
    try {
      attempt(static_cast<size_t>(file.mask(info.name).size()));
    } catch (const Error&) {
    }
    try {
      attempt(file.integers(info.name).size());
    } catch (const Error&) {
    }
    const std::vector<std::byte> bytes = file.bytes(info.name);
    const bool refused =  // as BOOL, bytes other than 0 and 1
        info.dtype == Dtype::BOOL &&
        std::any_of(bytes.begin(), bytes.end(), [](std::byte b) { return b > std::byte{1}; });
    expect(refused == (taken == 0),
           "some use for a tensor of " + std::string(dtype_name(info.dtype)));
  }
}

void check_rewritten(const SafeTensors& file) {
  std::vector<std::vector<std::byte>> data;
  std::vector<TensorView> views;
  data.reserve(file.tensors().size());
  for (const TensorInfo& info : file.tensors()) {
    views.push_back({info.name, info.dtype, info.shape, data.emplace_back(file.bytes(info.name))});
  }
  const SafeTensors again(to_safetensors("again", std::move(views), file.metadata()), "again");
  expect(again.tensors().size() == file.tensors().size(), "as many tensors");
  expect(again.metadata() == file.metadata(), "the same metadata");
  for (const TensorInfo& info : file.tensors()) {
    const TensorInfo& other = again.at(info.name);
    expect(other.dtype == info.dtype && other.shape == info.shape, "the same shape and dtype");
    expect(again.bytes(info.name) == file.bytes(info.name), "the same data");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const SafeTensors file(std::string(reinterpret_cast<const char*>(data), size), "fuzz");
    read_all(file);
    check_rewritten(file);
  } catch (const IoError& error) {
    const std::string message = error.what();
    expect(message.starts_with("fuzz: ") && message.find("got ") != std::string::npos,
           "a rule and what came instead, got " + message);
    expect(message.find('\n') == std::string::npos, "one line, got " + message);
  }
  return 0;
}
