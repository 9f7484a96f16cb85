#include "tools/extras/own_data/train/token_file.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "autograd/base/error.h"
#include "layers/text/utf8.h"

namespace heed {

namespace {

constexpr size_t looked_at = size_t{1} << 16;  // bytes at the beginning

std::string_view beginning(Bytes file) {
  return {reinterpret_cast<const char*>(file.data()), std::min(file.size(), looked_at)};
}

// Protocols 2 to 5, which end with a dot. The third byte begins a frame, a list, a tuple, a
// dictionary, or names a class.
bool is_pickle(Bytes file) {
  const std::string_view begin = beginning(file);
  return begin.size() > 4 && begin[0] == '\x80' && begin[1] >= 2 && begin[1] <= 5 &&
         std::string_view("\x95](}c").find(begin[2]) != std::string_view::npos &&
         file.back() == std::byte{'.'};
}

// What programs that compress or keep tables begin a file with, and its name; "" for other bytes.
std::string container(std::string_view begin) {
  constexpr std::pair<std::string_view, const char*> known[] = {
      {"\x1f\x8b\x08", "gzip"},
      {"\x28\xb5\x2f\xfd", "zstd"},
      {"\xfd"
       "7zXZ",
       "xz"},
      {"\x89HDF", "HDF5"},
      {"PAR1", "Parquet"},
      {"ARROW1", "Arrow"},
      {"GGUF", "GGUF"},
      {"SQLite format 3", "SQLite"},
      {"%PDF-", "PDF"},
      {"MMIDIDX", "Megatron's index, beside which the ids are,"}};
  for (const auto& [bytes, name] : known) {
    if (begin.starts_with(bytes)) return text("a file of ", name);
  }
  // The length of its header, of 64 bits, and the header.
  const bool is_safetensors = begin.size() > 9 &&
                              begin.substr(5, 3) == std::string_view("\0\0\0", 3) &&
                              begin[8] == '{' && (begin[9] == '"' || begin[9] == '}');
  return is_safetensors ? "a file of safetensors" : "";
}

// UTF-8 without controls. Ids have such bytes by chance, but not many in a row.
bool is_text(std::string_view begin) {
  const std::string_view whole = begin.size() == looked_at ? whole_characters(begin) : begin;
  return begin.size() >= 16 && first_wrong_byte(whole) == whole.size() &&
         std::none_of(begin.begin(), begin.end(), [](unsigned char c) {
           return (c < ' ' && (c < '\t' || c > '\r')) || c == 0x7F;
         });
}

// One of 256 numbers of 32 bits, as llm.c writes it, of which only the first few are not 0.
bool has_header(std::string_view begin) {
  constexpr size_t header = 1024, used = 64;
  return begin.size() > header && begin.substr(0, used).find_first_not_of('\0') < used &&
         begin.substr(0, header).find_first_not_of('\0', used) == std::string_view::npos;
}

}  // namespace

std::string instead_of_ids(Bytes file) {
  const std::string_view begin = beginning(file);
  const char* const save = ": in Python, numpy.array(ids, 'uint16').tofile(other) writes ids alone";
  return begin.starts_with("\x93NUMPY")
             ? "a file of NumPy's: in Python, numpy.load(path).tofile(other) writes the ids alone"
         : begin.starts_with("PK\x03\x04")
             ? text("an archive, as numpy.savez and torch.save write it", save)
         : !container(begin).empty() ? text(container(begin), save)
         : is_pickle(file)           ? text("a Python pickle", save)
         : is_text(begin)            ? text("text", save)
         : has_header(begin)
             ? "960 zero bytes after the first 64: a header of 256 numbers? tail -c "
               "+1025 writes what is after it"
             : "";
}

bool are_ids_of_8_bits(Bytes file) {
  constexpr double fewest = 1000, most_values = 224, most_apart = 0.2;
  std::array<double, 512> counts{};  // of each byte: low, high
  const std::string_view begin = beginning(file);
  for (size_t i = 0; i < begin.size(); ++i) {
    ++counts[2 * static_cast<unsigned char>(begin[i]) + i % 2];
  }
  double values = 0, all = 0, apart = 0;
  for (size_t byte = 1; byte < 256; ++byte) {
    const double low = counts[2 * byte], high = counts[2 * byte + 1];
    values += low + high > 0 ? 1 : 0;
    all += low + high;
    apart += std::abs(low - high);
  }
  return all >= fewest && values > 1 && values <= most_values && apart < most_apart * all;
}

std::optional<Zeros> every_second_zero(Bytes file, size_t size) {
  const std::string_view begin = beginning(file);
  std::array<bool, 2> zeros{true, true};  // the numbers 0, 2, 4, ... and 1, 3, 5, ...
  for (size_t i = 0; i < begin.size(); ++i) {
    zeros[i / size % 2] = zeros[i / size % 2] && begin[i] == '\0';
  }
  if (begin.size() < 16 * size || zeros[0] == zeros[1]) return std::nullopt;
  return zeros[0] ? Zeros::first : Zeros::second;
}

}  // namespace heed
