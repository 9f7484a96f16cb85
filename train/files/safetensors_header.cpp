#include "train/files/safetensors_header.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "autograd/base/error.h"
#include "layers/text/display.h"
#include "train/files/strict_json.h"

namespace heed {

namespace limits = safetensors_limits;
using Json = nlohmann::json;

namespace {

struct DtypeRow {
  std::string_view name;
  int64_t size;
};
constexpr std::array<DtypeRow, 8> dtypes{{{"BOOL", 1},
                                          {"U8", 1},
                                          {"F16", 2},
                                          {"BF16", 2},
                                          {"I32", 4},
                                          {"F32", 4},
                                          {"F64", 8},
                                          {"I64", 8}}};

// An entry is an object of a word and two lists.
constexpr size_t most_values = limits::tensors * (6 + limits::rank) + limits::metadata_entries + 2;

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::string in_quotes(const std::string& text) { return heed::text('"', printable(text), '"'); }

// A value as messages name it.
std::string got(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (value.is_string()) return in_quotes(value.get<std::string>());
  return value == 0 && value.is_number_integer() ? "-0" : value.dump();
}

// Zero extents count as 1 in the overflow check, so that a later product of the others is safe too.
int64_t byte_size(const std::string& in_tensor, const TensorInfo& info) {
  int64_t size = dtype_size(info.dtype);
  bool empty = false;
  for (const int64_t extent : info.shape) {
    empty = empty || extent == 0;
    require<IoError>(!__builtin_mul_overflow(size, std::max<int64_t>(extent, 1), &size), in_tensor,
                     "its size in bytes must be below 2^63 (got more)");
  }
  return empty ? 0 : size;
}

Dtype dtype_of(const std::string& in_tensor, const Json& value) {
  require<IoError>(value.is_string(), in_tensor, "dtype must be a string (got ", got(value), ")");
  const auto row = std::find_if(dtypes.begin(), dtypes.end(), [&](const DtypeRow& known) {
    return known.name == value.get_ref<const std::string&>();
  });
  require<IoError>(row != dtypes.end(), in_tensor,
                   "dtype must be F64, F32, F16, BF16, I64, I32, U8 or BOOL (got ", got(value),
                   ")");
  return static_cast<Dtype>(row - dtypes.begin());
}

std::vector<int64_t> shape_of(const std::string& in_tensor, const Json& value) {
  const char* rule = "shape must be a list of non-negative integers (got ";
  require<IoError>(value.is_array(), in_tensor, rule, got(value), ")");
  require<IoError>(value.size() <= limits::rank, in_tensor, "shape must have at most ",
                   limits::rank, " axes (got ", value.size(), ")");
  std::vector<int64_t> shape;
  for (const Json& extent : value) {
    require<IoError>(extent.is_number_unsigned(), in_tensor, rule, got(extent), ")");
    require<IoError>(extent.get<uint64_t>() <= static_cast<uint64_t>(limits::extent), in_tensor,
                     "an extent must be at most 2^40 (got ", got(extent), ")");
    shape.push_back(extent.get<int64_t>());
  }
  return shape;
}

// A file has fewer than 2^63 bytes, so any larger offset is outside of it.
int64_t offset_of(const std::string& in_tensor, const Json& value) {
  require<IoError>(value.is_number_unsigned(), in_tensor,
                   "data_offsets must be two non-negative integers (got ", got(value), ")");
  return static_cast<int64_t>(
      std::min<uint64_t>(value.get<uint64_t>(), static_cast<uint64_t>(INT64_MAX)));
}

TensorInfo read_entry(const std::string& path, const std::string& name, const Json& entry) {
  require<IoError>(name.size() <= limits::name_bytes, path, ": a tensor name must have at most ",
                   limits::name_bytes, " bytes (got ", name.size(), ")");
  require<IoError>(std::none_of(name.begin(), name.end(), is_control), path,
                   ": a tensor name must have no control characters (got ", in_quotes(name), ")");
  const std::string in_tensor = text(path, ": tensor ", in_quotes(name), ": ");
  require<IoError>(entry.is_object(), in_tensor, "the entry must be an object (got ", got(entry),
                   ")");
  constexpr std::array fields{"dtype", "shape", "data_offsets"};
  const char* rule = "its fields must be dtype, shape and data_offsets (got ";
  for (const char* field : fields) {
    require<IoError>(entry.contains(field), in_tensor, rule, "no ", field, ")");
  }
  for (const auto& [key, value] : entry.items()) {
    require<IoError>(std::find(fields.begin(), fields.end(), key) != fields.end(), in_tensor, rule,
                     in_quotes(key), ")");
  }
  TensorInfo info{name, dtype_of(in_tensor, entry["dtype"]), shape_of(in_tensor, entry["shape"]), 0,
                  0};
  const Json& offsets = entry["data_offsets"];
  require<IoError>(offsets.is_array() && offsets.size() == 2, in_tensor,
                   "data_offsets must be two non-negative integers (got ",
                   offsets.is_array() ? std::to_string(offsets.size()) : got(offsets), ")");
  info.begin = offset_of(in_tensor, offsets[0]);
  info.end = offset_of(in_tensor, offsets[1]);
  require<IoError>(info.begin <= info.end, in_tensor, "data_offsets must not run backwards (got [",
                   info.begin, ", ", info.end, "])");
  const int64_t bytes = byte_size(in_tensor, info);
  require<IoError>(info.end - info.begin == bytes, in_tensor, "data_offsets must span ", bytes,
                   " bytes for its shape and dtype (got ", info.end - info.begin, ")");
  return info;
}

Metadata read_metadata(const std::string& path, const Json& value) {
  require<IoError>(value.is_object(), path, ": __metadata__ must be an object of strings (got ",
                   got(value), ")");
  require<IoError>(value.size() <= limits::metadata_entries, path,
                   ": __metadata__ must have at most ", limits::metadata_entries, " entries (got ",
                   value.size(), ")");
  Metadata metadata;
  for (const auto& [key, word] : value.items()) {
    require<IoError>(word.is_string(), path, ": __metadata__: ", in_quotes(key),
                     " must be a string (got ", got(word), ")");
    metadata[key] = word.get<std::string>();
  }
  return metadata;
}

}  // namespace

std::string_view dtype_name(Dtype dtype) { return dtypes[static_cast<size_t>(dtype)].name; }
int64_t dtype_size(Dtype dtype) { return dtypes[static_cast<size_t>(dtype)].size; }

SafeTensorsHeader parse_safetensors_header(const std::string& path, const std::string& json) {
  const size_t first = json.find_first_not_of(" \t\r\n");
  require<IoError>(first != std::string::npos && json[first] == '{', path,
                   ": the header must begin with '{' (got ",
                   first == std::string::npos ? "nothing" : "another byte", ")");
  require_strict_json(json, path + ": the header", {.depth = 3, .values = most_values});
  const Json whole = Json::parse(json);

  SafeTensorsHeader header;
  for (const auto& [name, entry] : whole.items()) {
    if (name == "__metadata__") {
      header.metadata = read_metadata(path, entry);
      continue;
    }
    require<IoError>(header.tensors.size() < limits::tensors, path, ": the file must have at most ",
                     limits::tensors, " tensors (got more)");
    header.tensors.push_back(read_entry(path, name, entry));
  }
  std::sort(header.tensors.begin(), header.tensors.end(),
            [](const TensorInfo& a, const TensorInfo& b) {
              return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
            });
  return header;
}

void check_safetensors_data(const std::string& path, const std::vector<TensorInfo>& sorted,
                            int64_t data_bytes) {
  int64_t start = 0;
  for (const TensorInfo& info : sorted) {
    require<IoError>(info.begin == start, path, ": tensor ", in_quotes(info.name),
                     ": its data must begin at ", start, ", where the data before end (got ",
                     info.begin, info.begin < start ? ", an overlap)" : ", a hole)");
    start = info.end;
  }
  require<IoError>(start == data_bytes, path, ": the file must have ", start,
                   " bytes of data after the header (got ", data_bytes, ")");
}

std::string safetensors_header(const std::string& path, const std::vector<TensorInfo>& tensors,
                               const Metadata& metadata) try {
  std::string json = "{";
  if (!metadata.empty()) {
    json += "\"__metadata__\":" + Json(metadata).dump();
  }
  for (const TensorInfo& info : tensors) {
    json += json.size() > 1 ? "," : "";
    json += Json(info.name).dump() + ":{\"dtype\":\"" + std::string(dtype_name(info.dtype)) +
            "\",\"shape\":" + Json(info.shape).dump() + ",\"data_offsets\":[" +
            std::to_string(info.begin) + "," + std::to_string(info.end) + "]}";
  }
  json += "}";
  json.resize((json.size() + 7) / 8 * 8, ' ');
  require<IoError>(static_cast<int64_t>(json.size()) <= limits::header_bytes, path,
                   ": the header must have at most ", limits::header_bytes, " bytes (got ",
                   json.size(), ")");
  // Throws for anything the reader would refuse: a bad name, a bad shape, a duplicate.
  parse_safetensors_header(path, json);
  return json;
} catch (const Json::exception&) {
  fail<IoError>(path, ": names and metadata must be UTF-8 (got something else)");
}

}  // namespace heed
