// Files that must be refused, at least one per rule of the format, and valid files close to them.
#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "autograd/base/error.h"
#include "tests/support/temp_dir.h"
#include "train/files/safetensors.h"

using namespace heed;
using heed::testing::TempDir;

namespace {

std::string with_length(uint64_t length, const std::string& rest) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + rest;
}

std::string file(const std::string& json, size_t data_bytes = 0) {
  return with_length(json.size(), json + std::string(data_bytes, '\0'));
}

// {"x":{"dtype":"U8","shape":SHAPE,"data_offsets":[0,END]}} with END bytes of data.
std::string u8(const std::string& shape, size_t end) {
  return file(text(R"({"x":{"dtype":"U8","shape":)", shape, R"(,"data_offsets":[0,)", end, "]}}"),
              end);
}

std::string entry(const std::string& name, size_t begin, size_t end) {
  return text('"', name, R"(":{"dtype":"U8","shape":[)", end - begin, R"(],"data_offsets":[)",
              begin, ",", end, "]}");
}

std::string message(const std::string& bytes) {
  try {
    const SafeTensors tensors(bytes, "f");
  } catch (const IoError& error) {
    return error.what();
  }
  return "accepted";
}

struct HostileFile {
  std::string what;
  std::string bytes;
  std::string message;
};

void check_all(const std::vector<HostileFile>& cases, size_t count) {
  CHECK(cases.size() == count);
  for (const HostileFile& c : cases) {
    CAPTURE(c.what);
    CHECK(message(c.bytes) == c.message);
  }
}

}  // namespace

TEST_CASE("safetensors: refused lengths") {
  check_all(
      {
          {"empty file", "", "f: the file must begin with 8 bytes of header length (got 0 bytes)"},
          {"7 bytes", std::string(7, '\0'),
           "f: the file must begin with 8 bytes of header length (got 7 bytes)"},
          {"no header", with_length(0, ""), "f: the header must begin with '{' (got nothing)"},
          {"N past the end", with_length(3, "{}"),
           "f: the header of 3 bytes must end inside the file (got a file of 10 bytes)"},
          {"N at the cap", with_length(100'000'000, "{}"),
           "f: the header of 100000000 bytes must end inside the file (got a file of 10 bytes)"},
          {"N above the cap", with_length(100'000'001, "{}"),
           "f: the header must have at most 100000000 bytes (got 100000001)"},
          {"N of 2^64 - 1", with_length(UINT64_MAX, "{}"),
           "f: the header must have at most 100000000 bytes (got 18446744073709551615)"},
          {"N of 2^64 - 8", with_length(UINT64_MAX - 7, "{}"),
           "f: the header must have at most 100000000 bytes (got 18446744073709551608)"},
      },
      8);
}

TEST_CASE("safetensors: refused JSON") {
  const auto not_json = [](int column, const char* got) {
    return text("f: the header: expected JSON, got an error at line 1, column ", column,
                ": syntax error while parsing ", got);
  };
  const char* deep = "f: the header: expected at most 3 levels of brackets, got more";
  const std::string open = std::string(1000, '[');
  check_all(
      {
          {"not an object", file("[]"), "f: the header must begin with '{' (got another byte)"},
          {"byte order mark", file("\xef\xbb\xbf{}"),
           "f: the header must begin with '{' (got another byte)"},
          {"cut short", file("{"),
           not_json(2, "object key - unexpected end of input; expected string literal")},
          {"bytes after the object", file("{}x"),
           not_json(3, "value - invalid literal; last read: '{}x'; expected end of input")},
          {"two objects", file("{}{}"),
           not_json(3, "value - unexpected '{'; expected end of input")},
          {"NUL after the object", file(std::string("{}\0\0\0\0\0\0", 8)),
           "f: the header: expected JSON, got a NUL at byte 3"},
          {"an end hidden by a NUL", file(std::string("{}\0\"polyglot", 12)),
           "f: the header: expected JSON, got a NUL at byte 3"},
          {"not UTF-8 in a name", file("{\"a\xff\":1}"),
           not_json(4,
                    "object key - invalid string: ill-formed UTF-8 byte; last read: '\"a\\xff'; "
                    "expected string literal")},
          {"not UTF-8 outside", file("{\xff}"),
           not_json(2,
                    "object key - invalid literal; last read: '{\\xff'; expected string literal")},
          {"half a surrogate pair", file(R"({"a\ud800":1})"),
           not_json(10,
                    "object key - invalid string: surrogate U+D800..U+DBFF must be followed by "
                    "U+DC00..U+DFFF; last read: '\"a\\ud800\"'; expected string literal")},
          {"comment", file("{/**/}"),
           not_json(2, "object key - invalid literal; last read: '{/'; expected string literal")},
          {"nesting instead of an entry", file("{\"x\":" + open), deep},
          {"nesting in a shape", file(R"({"x":{"shape":[)" + open), deep},
          {"an object in a shape", file(R"({"x":{"shape":[{"a":1}]}})"), deep},
      },
      14);
}

TEST_CASE("safetensors: refused entries") {
  const std::string name_512(512, 'n'), name_513(513, 'n');
  const std::string fields = R"("dtype":"U8","shape":[0],"data_offsets":[0,0])";
  const std::string fine = "{" + fields + "}";
  const auto of_dtype = [](const std::string& value) {
    return R"({"x":{"dtype":)" + value + R"(,"shape":[0],"data_offsets":[0,0]}})";
  };
  CHECK(message(file("{\"" + name_512 + "\":" + fine + "}")) == "accepted");
  check_all(
      {
          {"a number", file(R"({"x":1})"), "f: tensor \"x\": the entry must be an object (got 1)"},
          {"null", file(R"({"x":null})"),
           "f: tensor \"x\": the entry must be an object (got null)"},
          {"name twice", file("{\"x\":" + fine + ",\"x\":" + fine + "}"),
           "f: the header: expected every key of an object once, got x twice"},
          {"name twice, once escaped", file("{\"x\":" + fine + ",\"\\u0078\":" + fine + "}"),
           "f: the header: expected every key of an object once, got x twice"},
          {"name of 513 bytes", file("{\"" + name_513 + "\":" + fine + "}"),
           "f: a tensor name must have at most 512 bytes (got 513)"},
          {"control character", file("{\"a\\u0007b\":" + fine + "}"),
           "f: a tensor name must have no control characters (got \"a\\x07b\")"},
          {"NUL in a name", file("{\"a\\u0000b\":" + fine + "}"),
           "f: a tensor name must have no control characters (got \"a\\x00b\")"},
          {"delete", file("{\"\x7f\":" + fine + "}"),
           "f: a tensor name must have no control characters (got \"\\x7f\")"},
          {"unknown field", file(R"({"x":{"strides":[1],)" + fields + "}}"),
           "f: tensor \"x\": its fields must be dtype, shape and data_offsets (got \"strides\")"},
          {"field twice", file(R"({"x":{"shape":[1],)" + fields + "}}"),
           "f: the header: expected every key of an object once, got shape twice"},
          {"no dtype", file(R"({"x":{"shape":[0],"data_offsets":[0,0]}})"),
           "f: tensor \"x\": its fields must be dtype, shape and data_offsets (got no dtype)"},
          {"no shape", file(R"({"x":{"dtype":"U8","data_offsets":[0,0]}})"),
           "f: tensor \"x\": its fields must be dtype, shape and data_offsets (got no shape)"},
          {"no offsets", file(R"({"x":{"dtype":"U8","shape":[0]}})"),
           "f: tensor \"x\": its fields must be dtype, shape and data_offsets (got no "
           "data_offsets)"},
          {"no fields", file(R"({"x":{}})"),
           "f: tensor \"x\": its fields must be dtype, shape and data_offsets (got no dtype)"},
          {"dtype in lower case", file(of_dtype("\"f32\"")),
           "f: tensor \"x\": dtype must be F64, F32, F16, BF16, I64, I32, U8 or BOOL (got "
           "\"f32\")"},
          {"dtype we do not read", file(of_dtype("\"F8_E4M3\"")),
           "f: tensor \"x\": dtype must be F64, F32, F16, BF16, I64, I32, U8 or BOOL (got "
           "\"F8_E4M3\")"},
          {"dtype a number", file(of_dtype("32")),
           "f: tensor \"x\": dtype must be a string (got 32)"},
      },
      17);
}

TEST_CASE("safetensors: refused shapes") {
  const auto shape = [](const char* got) {
    return text("f: tensor \"x\": shape must be a list of non-negative integers (got ", got, ")");
  };
  const char* overflow = "f: tensor \"x\": its size in bytes must be below 2^63 (got more)";
  CHECK(message(u8("[1,1,1,1,1,1,1,1]", 1)) == "accepted");
  CHECK(message(u8("[1099511627776,0]", 0)) == "accepted");
  check_all(
      {
          {"negative", u8("[-1]", 1), shape("-1")},
          {"minus zero", u8("[-0]", 0), shape("-0")},
          {"a float", u8("[1.0]", 1), shape("1.0")},
          {"an exponent", u8("[1e0]", 1), shape("1.0")},
          {"a string", u8("[\"1\"]", 1), shape("\"1\"")},
          {"a truth value", u8("[true]", 1), shape("true")},
          {"2^64", u8("[18446744073709551616]", 1), shape("1.8446744073709552e+19")},
          {"not a list", u8("1", 1), shape("1")},
          {"2^40 + 1", u8("[1099511627777]", 1),
           "f: tensor \"x\": an extent must be at most 2^40 (got 1099511627777)"},
          {"2^64 - 2", u8("[18446744073709551614]", 1),
           "f: tensor \"x\": an extent must be at most 2^40 (got 18446744073709551614)"},
          {"rank 9", u8("[1,1,1,1,1,1,1,1,1]", 1),
           "f: tensor \"x\": shape must have at most 8 axes (got 9)"},
          {"2^63", u8("[1099511627776,8388608]", 1), overflow},
          {"2^64, 0 modulo 2^64", u8("[4294967296,4294967296]", 0), overflow},
          {"2^80 behind a zero", u8("[0,1099511627776,1099511627776]", 0), overflow},
          {"too few bytes", u8("[3]", 2),
           "f: tensor \"x\": data_offsets must span 3 bytes for its shape and dtype (got 2)"},
          {"too many bytes", u8("[3]", 4),
           "f: tensor \"x\": data_offsets must span 3 bytes for its shape and dtype (got 4)"},
          {"2^62 bytes in a small file", u8("[1099511627776,4194304]", 4),
           "f: tensor \"x\": data_offsets must span 4611686018427387904 bytes for its shape and "
           "dtype (got 4)"},
          {"bytes of the dtype", file(R"({"x":{"dtype":"F64","shape":[1],"data_offsets":[0,4]}})"),
           "f: tensor \"x\": data_offsets must span 8 bytes for its shape and dtype (got 4)"},
      },
      18);
}

TEST_CASE("safetensors: refused offsets") {
  const auto offsets = [](const std::string& list, size_t data) {
    return file(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":)" + list + "}}", data);
  };
  const auto two = [](const char* got) {
    return text("f: tensor \"x\": data_offsets must be two non-negative integers (got ", got, ")");
  };
  check_all(
      {
          {"none", offsets("[]", 4), two("0")},
          {"one", offsets("[0]", 4), two("1")},
          {"three", offsets("[0,4,4]", 4), two("3")},
          {"negative", offsets("[-4,0]", 4), two("-4")},
          {"a float", offsets("[0,4.0]", 4), two("4.0")},
          {"a string", offsets("[0,\"4\"]", 4), two("\"4\"")},
          {"backwards", offsets("[4,0]", 4),
           "f: tensor \"x\": data_offsets must not run backwards (got [4, 0])"},
          {"past 2^63", offsets("[18446744073709551612,18446744073709551615]", 4),
           "f: tensor \"x\": data_offsets must span 4 bytes for its shape and dtype (got 0)"},
          {"near 2^63", offsets("[9223372036854775803,9223372036854775807]", 4),
           "f: tensor \"x\": its data must begin at 0, where the data before end (got "
           "9223372036854775803, a hole)"},
          {"a hole at the start", offsets("[4,8]", 8),
           "f: tensor \"x\": its data must begin at 0, where the data before end (got 4, a hole)"},
          {"a hole between", file("{" + entry("a", 0, 2) + "," + entry("b", 4, 6) + "}", 6),
           "f: tensor \"b\": its data must begin at 2, where the data before end (got 4, a hole)"},
          {"an overlap", file("{" + entry("a", 0, 4) + "," + entry("b", 2, 6) + "}", 6),
           "f: tensor \"b\": its data must begin at 4, where the data before end (got 2, an "
           "overlap)"},
          {"two on one range", file("{" + entry("a", 0, 4) + "," + entry("b", 0, 4) + "}", 4),
           "f: tensor \"b\": its data must begin at 4, where the data before end (got 0, an "
           "overlap)"},
          {"bytes after the data", offsets("[0,4]", 5),
           "f: the file must have 4 bytes of data after the header (got 5)"},
          {"data cut short", offsets("[0,4]", 3),
           "f: the file must have 4 bytes of data after the header (got 3)"},
          {"bytes and no tensors", file("{}", 1),
           "f: the file must have 0 bytes of data after the header (got 1)"},
      },
      16);
}

TEST_CASE("safetensors: refused metadata") {
  check_all(
      {
          {"a list", file(R"({"__metadata__":[]})"),
           "f: __metadata__ must be an object of strings (got a list)"},
          {"null", file(R"({"__metadata__":null})"),
           "f: __metadata__ must be an object of strings (got null)"},
          {"a number in it", file(R"({"__metadata__":{"a":3}})"),
           "f: __metadata__: \"a\" must be a string (got 3)"},
          {"an object in it", file(R"({"__metadata__":{"a":{"b":"c"}}})"),
           "f: __metadata__: \"a\" must be a string (got an object)"},
          {"a key twice", file(R"({"__metadata__":{"a":"1","a":"1"}})"),
           "f: the header: expected every key of an object once, got a twice"},
          {"a long key in one short line",
           file("{\"__metadata__\":{\"" + std::string(59, 'k') + "\xc3\xa9\\n\":1}}"),
           "f: __metadata__: "
           "\"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\xc3\xa9...\" "
           "must "
           "be a string (got 1)"},
          {"itself twice", file(R"({"__metadata__":{},"__metadata__":{}})"),
           "f: the header: expected every key of an object once, got __metadata__ twice"},
          {"a tensor of its name", file(R"({"__metadata__":{"dtype":"U8","shape":[0]}})"),
           "f: __metadata__: \"shape\" must be a string (got a list)"},
      },
      8);
}

TEST_CASE("safetensors: at most 65,536 tensors and metadata entries") {
  const auto tensors = [](int count) {
    std::string json = "{";
    for (int i = 0; i < count; ++i) {
      json += (i == 0 ? "" : ",") + entry(text("t", i), 0, 0);
    }
    return file(json + "}");
  };
  CHECK(message(tensors(65'536)) == "accepted");
  CHECK(message(tensors(65'537)) == "f: the file must have at most 65536 tensors (got more)");
  std::string zeros = R"({"x":{"shape":[0)";
  for (int i = 0; i < 1'000'000; ++i) zeros += ",0";
  CHECK(message(file(zeros + "]}}")) == "f: the header: expected at most 983042 values, got more");
  const auto metadata = [](int count) {
    std::string json = "{\"__metadata__\":{";
    for (int i = 0; i < count; ++i) {
      json += text(i == 0 ? "" : ",", "\"m", i, "\":\"\"");
    }
    return file(json + "}}");
  };
  CHECK(message(metadata(65'536)) == "accepted");
  CHECK(message(metadata(65'537)) == "f: __metadata__ must have at most 65536 entries (got 65537)");
}

TEST_CASE("safetensors: a string or number of at most 16 MiB") {
  const auto note = [](size_t length) {
    return file("{\"__metadata__\":{\"n\":\"" + std::string(length, 'v') + "\"}}");
  };
  constexpr size_t most = size_t{1} << 24;
  CHECK(message(note(most)) == "accepted");
  const std::string rule =
      "f: the header: expected strings and numbers of at most 16777216 bytes, got ";
  CHECK(message(note(most + 1)) == rule + "more at byte 23");
  CHECK(message(file("{\"x\":" + std::string(most + 1, '1'))) == rule + "more at byte 6");
  // An escaped quote does not end a string.
  std::string escaped(most + 2, '\\');
  for (size_t i = 1; i < escaped.size(); i += 2) {
    escaped[i] = '"';
  }
  CHECK(message(file("{\"" + escaped + "\":1}")) == rule + "more at byte 3");
}

// The parser holds the blanks before a token, and writes each newline as <U+000A> into its error.
TEST_CASE("safetensors: at most 2^20 blanks in a row") {
  constexpr size_t most = size_t{1} << 20;
  const std::string rule = "f: the header: expected at most 1048576 blanks in a row, got ";
  for (const char blank : {' ', '\t', '\r', '\n'}) {
    const std::string blanks(most, blank);
    CHECK(message(file(blanks + "{" + blanks + "}" + blanks)) == "accepted");
    CHECK(message(file("{" + blanks + blank + "x")) == rule + "more at byte 1048578");
    CHECK(message(file("{}" + blanks + blank)) == rule + "more at byte 1048579");
  }
  CHECK(message(file("{\"__metadata__\":{\"n\":\"" + std::string(most + 1, ' ') + "\"}}")) ==
        "accepted");
}

TEST_CASE("safetensors: accepted though unusual") {
  CHECK(message(file("{}")) == "accepted");
  CHECK(message(file(" \t\r\n{}  \n")) == "accepted");
  CHECK(message(file(R"({"__metadata__":{}})")) == "accepted");
  CHECK(message(u8("[]", 1)) == "accepted");
  CHECK(message(file("{" + entry("", 0, 1) + "}", 1)) == "accepted");
  // Entries may be in any order if their ranges fill the data.
  const std::string unordered = "{" + entry("c", 3, 3) + "," + entry("b", 3, 5) + "," +
                                entry("a", 0, 3) + "," + entry("d", 0, 0) + "}";
  const SafeTensors tensors(file(unordered, 5), "f");
  CHECK(tensors.names() == std::vector<std::string>{"d", "a", "c", "b"});
  CHECK(tensors.find("b")->begin == 3);
  CHECK(tensors.find("e") == nullptr);
}

TEST_CASE("safetensors: the same rules for a file on disk") {
  const TempDir dir;
  const std::string path = (dir / "f").string();
  std::ofstream(path, std::ios::binary) << u8("[4]", 4);
  CHECK(SafeTensors(dir / "f").bytes("x").size() == 4);
  // The length is within the file, but the file is sparse.
  std::ofstream(path, std::ios::binary) << with_length(100'000'001, "{}");
  std::filesystem::resize_file(path, uintmax_t{1} << 40);
  CHECK_THROWS_WITH_AS(
      SafeTensors(dir / "f"),
      (path + ": the header must have at most 100000000 bytes (got 100000001)").c_str(), IoError);
  std::ofstream(path, std::ios::binary) << u8("[4]", 4) << "x";
  CHECK_THROWS_WITH_AS(
      SafeTensors(dir / "f"),
      (path + ": the file must have 4 bytes of data after the header (got 5)").c_str(), IoError);
  CHECK_THROWS_WITH_AS(
      SafeTensors(dir.path()),
      (dir.path().string() + ": cannot read: expected a file, got a folder").c_str(), IoError);
}

TEST_CASE("safetensors: a file cut at every length, and with every byte of the header changed") {
  const std::string whole = to_safetensors(
      "f", {view("a", Array::from({2}, {real{1}, real{2}})), view("b", Mask::from({3}, {1, 0, 1}))},
      {{"key", "value"}});
  CHECK(message(whole) == "accepted");
  size_t refused = 0;
  for (size_t length = 0; length < whole.size(); ++length) {
    refused += message(whole.substr(0, length)) != "accepted" ? 1 : 0;
  }
  CHECK(refused == whole.size());
  // Every file either reads or throws IoError; message() does not catch anything else.
  size_t accepted = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      accepted += message(damaged) == "accepted" ? 1 : 0;
    }
  }
  CHECK(accepted > 0);  // changes in names, metadata or data
  CHECK(accepted < whole.size() * 4);
}
