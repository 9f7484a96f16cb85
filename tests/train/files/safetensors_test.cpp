#include "train/files/safetensors.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "autograd/base/error.h"
#include "tests/support/errors.h"
#include "tests/support/temp_dir.h"

using namespace heed;
using heed::testing::message_of;
using heed::testing::TempDir;

namespace {

constexpr Dtype real_dtype = is_float64 ? Dtype::F64 : Dtype::F32;

template <class T>
std::vector<T> elements_of(const BasicArray<T>& array) {
  return {array.span().begin(), array.span().end()};
}

template <class T>
TensorView raw(std::string name, Dtype dtype, std::vector<int64_t> shape,
               const std::vector<T>& data) {
  return {std::move(name), dtype, std::move(shape), std::as_bytes(std::span(data))};
}

SafeTensors reopened(std::vector<TensorView> tensors, const Metadata& metadata = {}) {
  return SafeTensors(to_safetensors("f", std::move(tensors), metadata), "f");
}

std::string golden(const std::string& name) {
  return read_file(std::string(HEED_SOURCE_DIR) + "/tests/golden/safetensors/" + name, 10'000);
}

// 0.5 i - 1, the same as in tools/reference/safetensors_golden.py.
template <class T>
std::vector<T> numbers(int count) {
  std::vector<T> numbers;
  for (int i = 0; i < count; ++i) {
    numbers.push_back(static_cast<T>(0.5 * i - 1));
  }
  return numbers;
}

}  // namespace

TEST_CASE("safetensors: writes the bytes of the Python package") {
  const auto f32 = numbers<float>(6);
  const auto f64 = numbers<double>(2);
  const std::vector<uint16_t> half{0xbc00, 0xb800, 0x0000, 0x3800, 0x3c00};
  const std::vector<uint16_t> brain{0xbf80, 0xbf00, 0x0000, 0x3f00};
  const std::vector<int64_t> ids{0, 5, -1, 7, INT32_MAX, INT32_MIN};
  const std::vector<int32_t> small_ids{1, -2, 3};
  const std::vector<uint8_t> mask{1, 0, 1, 1}, state{0, 1, 127, 128, 255};
  const std::vector<float> first_three(f32.begin(), f32.begin() + 3), no_floats;
  const std::vector<double> scalar{-1.0}, one{-1.0};
  CHECK(to_safetensors("f",
                       {
                           raw("state", Dtype::U8, {5}, state),
                           raw("b.weight", Dtype::F32, {2, 3}, f32),
                           raw("mask", Dtype::BOOL, {2, 2}, mask),
                           raw("a.weight", Dtype::F32, {3}, first_three),
                           raw("half", Dtype::F16, {5}, half),
                           raw("empty", Dtype::F32, {0, 4}, no_floats),
                           raw("ids", Dtype::I64, {2, 3}, ids),
                           raw("scalar", Dtype::F64, {}, scalar),
                           raw("brain", Dtype::BF16, {2, 2}, brain),
                           raw("small_ids", Dtype::I32, {3}, small_ids),
                       },
                       {{"note",
                         "quote \" backslash \\ newline \n tab \t bell \x07 e-acute "
                         "\xc3\xa9"}}) == golden("all_dtypes.safetensors"));
  CHECK(to_safetensors("f", {}) == golden("empty.safetensors"));
  CHECK(to_safetensors("f", {raw("\xc3\xa9", Dtype::F64, {1}, one),
                             raw("z", Dtype::F64, {2}, f64)}) == golden("names.safetensors"));
}

TEST_CASE("safetensors: reads what the Python package wrote") {
  const SafeTensors file(golden("all_dtypes.safetensors"), "golden");
  CHECK(file.names() == std::vector<std::string>{"ids", "scalar", "a.weight", "b.weight", "empty",
                                                 "small_ids", "brain", "half", "state", "mask"});
  CHECK(file.metadata().at("note").ends_with("\x07 e-acute \xc3\xa9"));
  CHECK(file.array("b.weight").shape() == Shape{2, 3});
  CHECK(elements_of(file.array("b.weight")) == numbers<real>(6));
  CHECK(elements_of(file.array("a.weight")) == numbers<real>(3));
  CHECK(elements_of(file.array("half")) == numbers<real>(5));
  CHECK(elements_of(file.array("brain")) == numbers<real>(4));
  CHECK(file.array("scalar").shape() == Shape{});
  CHECK(elements_of(file.array("scalar")) == numbers<real>(1));
  CHECK(file.array("empty").shape() == Shape{0, 4});
  CHECK(file.ids("ids").shape() == Shape{2, 3});
  CHECK(elements_of(file.ids("ids")) == std::vector<int32_t>{0, 5, -1, 7, INT32_MAX, INT32_MIN});
  CHECK(elements_of(file.ids("small_ids")) == std::vector<int32_t>{1, -2, 3});
  CHECK(elements_of(file.mask("mask")) == std::vector<uint8_t>{1, 0, 1, 1});
  CHECK(elements_of(file.mask("state")) == std::vector<uint8_t>{0, 1, 1, 1, 1});
  CHECK(file.integers("state") == std::vector<int64_t>{0, 1, 127, 128, 255});
  CHECK(file.bytes("state").back() == std::byte{255});
  CHECK(file.bytes("empty").empty());
}

TEST_CASE("safetensors: arrays, ids, masks and lists come back bit for bit, by way of a file") {
  const TempDir dir;
  const real odd[] = {std::numeric_limits<real>::quiet_NaN(),
                      -std::numeric_limits<real>::infinity(),
                      real{-0.0},
                      std::numeric_limits<real>::denorm_min(),
                      real{1} / 3,
                      std::numeric_limits<real>::max()};
  const Array array = Array::from({2, 1, 3}, odd);
  const Ids ids = Ids::from({2}, {INT32_MIN, INT32_MAX});
  const Mask mask = Mask::from({1, 2}, {0, 1});
  const std::vector<uint8_t> state{7, 0, 255};
  const std::vector<int64_t> position{INT64_MIN, 0, INT64_MAX};
  const Fingerprint written =
      write_safetensors(dir / "f",
                        {view("array", array), view("ids", ids), view("mask", mask),
                         raw("state", Dtype::U8, {3}, state), view("position", position)},
                        {{"b", "2"}, {"a", "1"}});
  CHECK(written == fingerprint_file(dir / "f"));
  const SafeTensors file(dir / "f");
  CHECK(file.metadata() == Metadata{{"a", "1"}, {"b", "2"}});
  CHECK(file.at("array").dtype == real_dtype);
  CHECK(file.array("array").shape() == array.shape());
  CHECK(std::memcmp(file.array("array").data(), array.data(), sizeof odd) == 0);
  CHECK(elements_of(file.ids("ids")) == elements_of(ids));
  CHECK(elements_of(file.mask("mask")) == elements_of(mask));
  CHECK(file.integers("state") == std::vector<int64_t>{7, 0, 255});
  CHECK(file.integers("position") == position);
  // An open file keeps its contents when another one is renamed over it.
  write_safetensors(dir / "f", {});
  CHECK(elements_of(file.ids("ids")) == elements_of(ids));
}

TEST_CASE("safetensors: a view keeps its array alive") {
  std::vector<TensorView> views;
  views.push_back(view("a", Array::full({1000}, real{2})));
  const Array other = Array::full({1000}, real{3});
  CHECK(elements_of(reopened(std::move(views)).array("a")) == std::vector<real>(1000, real{2}));
}

TEST_CASE("safetensors: more elements than one chunk of the conversion") {
  constexpr int count = 70'001;
  const auto f32 = numbers<float>(count);
  const auto f64 = numbers<double>(count);
  std::vector<int64_t> counted(count);
  for (int i = 0; i < count; ++i) {
    counted[static_cast<size_t>(i)] = i - 5;
  }
  const std::vector<TensorView> views{raw("f32", Dtype::F32, {count}, f32),
                                      raw("f64", Dtype::F64, {count}, f64),
                                      raw("i64", Dtype::I64, {count}, counted)};
  const SafeTensors file = reopened(views);
  CHECK(elements_of(file.array("f32")) == numbers<real>(count));
  CHECK(elements_of(file.array("f64")) == numbers<real>(count));
  CHECK(file.integers("i64") == counted);
  CHECK(file.ids("i64").data()[count - 1] == count - 6);
}

TEST_CASE("safetensors: every F16 and BF16 pattern") {
  std::vector<uint16_t> patterns(65'536);
  for (size_t i = 0; i < patterns.size(); ++i) {
    patterns[i] = static_cast<uint16_t>(i);
  }
  const SafeTensors file = reopened({raw("f16", Dtype::F16, {256, 256}, patterns),
                                     raw("bf16", Dtype::BF16, {256, 256}, patterns)});
  // (-1)^s 2^(e - bias) (1 + f / 2^bits), or 2^(1 - bias) f / 2^bits when e is 0.
  const auto reference = [](int pattern, int exponent_bits) {
    const int bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
    const int e = (pattern >> bits) & ((1 << exponent_bits) - 1), f = pattern & ((1 << bits) - 1);
    const double fraction = std::ldexp(f, -bits);
    double value = e == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, e - bias);
    if (e == (1 << exponent_bits) - 1) {
      value = f == 0 ? HUGE_VAL : std::nan("");
    }
    return pattern >= 0x8000 ? -value : value;
  };
  for (const int exponent_bits : {5, 8}) {
    const char* name = exponent_bits == 5 ? "f16" : "bf16";
    const Array array = file.array(name);
    REQUIRE(array.shape() == Shape{256, 256});
    int equal = 0, nans = 0;
    for (int pattern = 0; pattern < 65'536; ++pattern) {
      const double expected = reference(pattern, exponent_bits);
      const double got = static_cast<double>(array.data()[pattern]);
      nans += std::isnan(expected) && std::isnan(got) ? 1 : 0;
      equal += expected == got && std::signbit(expected) == std::signbit(got) ? 1 : 0;
    }
    CAPTURE(name);
    CHECK(nans == 2 * ((1 << (15 - exponent_bits)) - 1));
    CHECK(equal == 65'536 - nans);
  }
}

TEST_CASE("safetensors: what a tensor is not") {
  const std::vector<int64_t> large{0, int64_t{1} << 31};
  const std::vector<uint8_t> bad{0, 1, 2};
  const Array one = Array::full({1, 1, 1}, real{1});
  const std::vector<float> single{1};
  const SafeTensors file =
      reopened({view("large", large), raw("bad", Dtype::BOOL, {3}, bad),
                view("tok_emb.weight", one), raw("deep", Dtype::F32, {1, 1, 1, 1, 1, 1, 1}, single),
                raw("f16", Dtype::F16, {0}, std::vector<uint16_t>{})});
  CHECK(message_of<IoError>([&] { file.ids("large"); }) ==
        "f: tensor \"large\": expected ids of 32 bits (got 2147483648 at element 1)");
  CHECK(message_of<IoError>([&] { file.mask("bad"); }) ==
        "f: tensor \"bad\": a BOOL must be 0 or 1 (got 2 at element 2)");
  CHECK(message_of<IoError>([&] { file.array("large"); }) ==
        "f: tensor \"large\": expected F64, F32, F16 or BF16 (got I64)");
  CHECK(message_of<IoError>([&] { file.ids("f16"); }) ==
        "f: tensor \"f16\": expected I64, I32 or U8 (got F16)");
  CHECK(message_of<IoError>([&] { file.integers("bad"); }) ==
        "f: tensor \"bad\": expected I64, I32 or U8 (got BOOL)");
  CHECK(message_of<IoError>([&] { file.mask("large"); }) ==
        "f: tensor \"large\": expected BOOL or U8 (got I64)");
  CHECK(message_of<IoError>([&] { file.array("deep"); }) ==
        "f: tensor \"deep\": expected at most 6 axes (got 7)");
  CHECK(message_of<IoError>([&] { file.array("tok_emb.wieght"); }) ==
        "f: no tensor \"tok_emb.wieght\" among its 5, did you mean \"tok_emb.weight\"?");
  CHECK(message_of<IoError>([&] { file.at("x"); }) == "f: no tensor \"x\" among its 5");
}

TEST_CASE("safetensors: the writer refuses what the reader would") {
  const TempDir dir;
  const Array a = Array::full({2}, real{1});
  const std::string path = (dir / "f").string();
  const auto refused = [&](std::vector<TensorView> tensors, const Metadata& metadata,
                           const std::string& rule) {
    CHECK(message_of<IoError>([&] {
            write_safetensors(dir / "f", std::move(tensors), metadata);
          }) == path + ": " + rule);
    CHECK(std::filesystem::is_empty(dir.path()));
  };
  refused({view("a", a), view("a", a)}, {},
          "the header: expected every key of an object once, got a twice");
  refused({view("a\n", a)}, {}, "a tensor name must have no control characters (got \"a\\n\")");
  refused({view(std::string(513, 'a'), a)}, {},
          "a tensor name must have at most 512 bytes (got 513)");
  refused({view("__metadata__", a)}, {},
          "__metadata__: \"data_offsets\" must be a string (got a list)");
  refused({view("\xff", a)}, {}, "names and metadata must be UTF-8 (got something else)");
  refused({}, {{"k", "\xff"}}, "names and metadata must be UTF-8 (got something else)");
  const std::vector<float> three{1, 2, 3};
  refused({raw("a", Dtype::F32, {2}, three)}, {},
          "tensor \"a\": data_offsets must span 8 bytes for its shape and dtype (got 12)");
}
