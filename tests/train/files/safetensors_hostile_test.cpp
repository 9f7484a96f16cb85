// Files that must be refused: those of tests/broken/safetensors.txt, and what a table cannot hold.
#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <string>

#include "autograd/base/error.h"
#include "tests/support/broken_files.h"
#include "tests/support/errors.h"
#include "tests/support/temp_dir.h"
#include "train/files/safetensors.h"

using namespace heed;
using namespace heed::testing;

namespace {

std::string with_length(uint64_t length, const std::string& rest) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + rest;
}

std::string file(const std::string& json, size_t data_bytes = 0) {
  return with_length(json.size(), json + std::string(data_bytes, '\0'));
}

std::string entry(const std::string& name, size_t begin, size_t end) {
  return text('"', name, R"(":{"dtype":"U8","shape":[)", end - begin, R"(],"data_offsets":[)",
              begin, ",", end, "]}");
}

// What reading says, after the name of the file.
std::string message(const std::string& bytes) {
  const std::string whole = message_of<IoError>([&] { const SafeTensors tensors(bytes, "f"); });
  return whole.starts_with("f: ") ? whole.substr(3) : whole;
}

// A file as the setting in the table says.
std::string bytes_of(const BrokenFile& broken) {
  const std::string& how = broken.setting;
  if (how.starts_with("length ")) return with_length(std::stoull(how.substr(7)), broken.content);
  if (how.starts_with("header + ")) return file(broken.content, std::stoul(how.substr(9)));
  REQUIRE(how == "bytes");
  return broken.content;
}

}  // namespace

TEST_CASE("safetensors: what is said about each broken file") {
  CHECK(check_broken("safetensors.txt",
                     [](const BrokenFile& broken) { return message(bytes_of(broken)); }) == 107);
}

TEST_CASE("safetensors: at most 65,536 tensors and metadata entries") {
  const auto tensors = [](int count) {
    std::string json = "{";
    for (int i = 0; i < count; ++i) {
      json += (i == 0 ? "" : ",") + entry(text("t", i), 0, 0);
    }
    return file(json + "}");
  };
  CHECK(message(tensors(65'536)) == "no error");
  CHECK(message(tensors(65'537)) == "the file must have at most 65536 tensors (got more)");
  const auto metadata = [](int count) {
    std::string json = "{\"__metadata__\":{";
    for (int i = 0; i < count; ++i) {
      json += text(i == 0 ? "" : ",", "\"m", i, "\":\"\"");
    }
    return file(json + "}}");
  };
  CHECK(message(metadata(65'536)) == "no error");
  CHECK(message(metadata(65'537)) == "__metadata__ must have at most 65536 entries (got 65537)");
}

TEST_CASE("safetensors: entries may be in any order if their ranges fill the data") {
  const std::string unordered = "{" + entry("c", 3, 3) + "," + entry("b", 3, 5) + "," +
                                entry("a", 0, 3) + "," + entry("d", 0, 0) + "}";
  const SafeTensors tensors(file(unordered, 5), "f");
  CHECK(tensors.names() == std::vector<std::string>{"d", "a", "c", "b"});
  CHECK(tensors.find("b")->begin == 3);
  CHECK(tensors.find("e") == nullptr);
}

TEST_CASE("safetensors: the same rules for a file on disk") {
  const TempDir dir;
  const std::string path = (dir / "f").string(), whole = file("{" + entry("x", 0, 4) + "}", 4);
  std::ofstream(path, std::ios::binary) << whole;
  CHECK(SafeTensors(dir / "f").bytes("x").size() == 4);
  // The length is within the file, but the file is sparse.
  std::ofstream(path, std::ios::binary) << with_length(100'000'001, "{}");
  std::filesystem::resize_file(path, uintmax_t{1} << 40);
  const auto refused = [](const std::filesystem::path& where) {
    return message_of<IoError>([&] { const SafeTensors tensors(where); });
  };
  CHECK(refused(path) == path + ": the header must have at most 100000000 bytes (got 100000001)");
  std::ofstream(path, std::ios::binary) << whole << "x";
  CHECK(refused(path) == path + ": the file must have 4 bytes of data after the header (got 5)");
  CHECK(refused(dir.path()) ==
        dir.path().string() + ": cannot read: expected a file, got a folder");
}

TEST_CASE("safetensors: a file cut at every length, and with every byte of the header changed") {
  const std::string whole = to_safetensors(
      "f", {view("a", Array::from({2}, {real{1}, real{2}})), view("b", Mask::from({3}, {1, 0, 1}))},
      {{"key", "value"}});
  CHECK(message(whole) == "no error");
  size_t refused = 0;
  for (size_t length = 0; length < whole.size(); ++length) {
    refused += message(whole.substr(0, length)) != "no error" ? 1 : 0;
  }
  CHECK(refused == whole.size());
  // Every file either reads or throws IoError; message() does not catch anything else.
  size_t accepted = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      accepted += message(damaged) == "no error" ? 1 : 0;
    }
  }
  CHECK(accepted > 0);  // changes in names, metadata or data
  CHECK(accepted < whole.size() * 4);
}
