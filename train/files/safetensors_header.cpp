#include "train/files/safetensors_header.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "autograd/base/error.h"
#include "layers/text/display.h"

namespace heed {

namespace limits = safetensors_limits;

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

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::string in_quotes(const std::string& text) { return heed::text('"', printable(text), '"'); }

// Accepts only the structure that a header may have and rejects anything else where it occurs. So
// nesting never exceeds {"name": {"shape": [ and memory use is proportional to the input.
class HeaderParser final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderParser(const std::string& path) : path_(path) {}

  std::vector<TensorInfo> tensors;
  Metadata metadata;

  bool null() override { unexpected("null"); }
  bool boolean(bool value) override { unexpected(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override {
    unexpected(value == 0 ? "-0" : std::to_string(value));
  }
  bool number_float(number_float_t, const string_t& digits) override {
    unexpected(printable(digits));
  }
  bool binary(binary_t&) override { unexpected("binary"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (state_ == State::shape_items) {
      add_extent(value);
    } else if (state_ == State::offset_items && offsets_ < 2) {
      // A file has fewer than 2^63 bytes, so any larger offset is outside the file.
      const auto largest = static_cast<uint64_t>(INT64_MAX);
      (offsets_++ == 0 ? tensor().begin : tensor().end) =
          static_cast<int64_t>(std::min<uint64_t>(value, largest));
    } else {
      unexpected(state_ == State::offset_items ? "a third" : std::to_string(value));
    }
    return true;
  }

  bool string(string_t& value) override {
    if (state_ == State::dtype) {
      set_dtype(value);
      state_ = State::field;
    } else if (state_ == State::metadata_value) {
      metadata[metadata_key_] = std::move(value);
      state_ = State::metadata;
    } else {
      unexpected(in_quotes(value));
    }
    return true;
  }

  bool start_object(std::size_t) override {
    if (state_ == State::start) {
      state_ = State::root;
    } else if (state_ == State::tensor) {
      state_ = State::field;
    } else if (state_ == State::metadata_start) {
      state_ = State::metadata;
    } else {
      unexpected("an object");
    }
    return true;
  }

  bool key(string_t& name) override {
    if (state_ == State::root) {
      begin_entry(name);
    } else if (state_ == State::metadata) {
      const bool is_new = metadata.emplace(name, "").second;
      check(is_new, "__metadata__: key ", in_quotes(name), " must appear once (got it twice)");
      check(metadata.size() <= limits::metadata_entries, "__metadata__ must have at most ",
            limits::metadata_entries, " entries (got more)");
      metadata_key_ = std::move(name);
      state_ = State::metadata_value;
    } else {
      begin_field(name);
    }
    return true;
  }

  bool end_object() override {
    if (state_ == State::field) {
      end_tensor();
    }
    state_ = State::root;
    return true;
  }

  bool start_array(std::size_t) override {
    if (state_ == State::shape) {
      state_ = State::shape_items;
    } else if (state_ == State::offsets) {
      state_ = State::offset_items;
    } else {
      unexpected("a list");
    }
    return true;
  }

  bool end_array() override {
    check(state_ != State::offset_items || offsets_ == 2, in_tensor(),
          "data_offsets must be two non-negative integers (got ", offsets_, ")");
    state_ = State::field;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    const bool utf8 = std::string_view(error.what()).find("UTF-8") != std::string_view::npos;
    fail<IoError>(path_, ": the header must be ", utf8 ? "UTF-8" : "valid JSON",
                  " (got something else at byte ", position, " of it)");
  }

 private:
  // What is expected next.
  enum class State {
    start,
    root,
    tensor,
    field,
    dtype,
    shape,
    shape_items,
    offsets,
    offset_items,
    metadata_start,
    metadata,
    metadata_value,
  };

  TensorInfo& tensor() { return tensors.back(); }
  std::string in_tensor() { return "tensor " + in_quotes(tensor().name) + ": "; }

  template <class... Parts>
  void check(bool ok, const Parts&... parts) {
    require<IoError>(ok, path_, ": ", parts...);
  }

  [[noreturn]] void unexpected(const std::string& got) {
    fail<IoError>(path_, ": ", expected(), " (got ", got, ")");
  }

  std::string expected() {
    switch (state_) {
      case State::tensor:
        return in_tensor() + "the entry must be an object";
      case State::dtype:
        return in_tensor() + "dtype must be a string";
      case State::shape:
      case State::shape_items:
        return in_tensor() + "shape must be a list of non-negative integers";
      case State::offsets:
      case State::offset_items:
        return in_tensor() + "data_offsets must be two non-negative integers";
      case State::metadata_start:
        return "__metadata__ must be an object of strings";
      case State::metadata_value:
        return "__metadata__: " + in_quotes(metadata_key_) + " must be a string";
      default:
        return "the header must be a JSON object";
    }
  }

  void begin_entry(string_t& name) {
    if (name == "__metadata__") {
      check(!std::exchange(has_metadata_, true), "__metadata__ must appear once (got it twice)");
      state_ = State::metadata_start;
      return;
    }
    check(name.size() <= limits::name_bytes, "a tensor name must have at most ", limits::name_bytes,
          " bytes (got ", name.size(), ")");
    check(std::none_of(name.begin(), name.end(), is_control),
          "a tensor name must have no control characters (got ", in_quotes(name), ")");
    check(tensors.size() < limits::tensors, "the file must have at most ", limits::tensors,
          " tensors (got more)");
    tensors.push_back({std::move(name), Dtype::F32, {}, 0, 0});
    has_dtype_ = has_shape_ = has_offsets_ = false;
    offsets_ = 0;
    state_ = State::tensor;
  }

  void begin_field(const string_t& name) {
    bool* seen = nullptr;
    if (name == "dtype") {
      seen = &has_dtype_;
      state_ = State::dtype;
    } else if (name == "shape") {
      seen = &has_shape_;
      state_ = State::shape;
    } else if (name == "data_offsets") {
      seen = &has_offsets_;
      state_ = State::offsets;
    }
    check(seen != nullptr, in_tensor(), "its fields must be dtype, shape and data_offsets (got ",
          in_quotes(name), ")");
    check(!std::exchange(*seen, true), in_tensor(), name, " must appear once (got it twice)");
  }

  void set_dtype(const string_t& name) {
    const auto row = std::find_if(dtypes.begin(), dtypes.end(),
                                  [&](const DtypeRow& known) { return known.name == name; });
    check(row != dtypes.end(), in_tensor(),
          "dtype must be F64, F32, F16, BF16, I64, I32, U8 or BOOL (got ", in_quotes(name), ")");
    tensor().dtype = static_cast<Dtype>(row - dtypes.begin());
  }

  void add_extent(uint64_t extent) {
    check(extent <= static_cast<uint64_t>(limits::extent), in_tensor(),
          "an extent must be at most 2^40 (got ", extent, ")");
    check(tensor().shape.size() < limits::rank, in_tensor(), "shape must have at most ",
          limits::rank, " axes (got more)");
    tensor().shape.push_back(static_cast<int64_t>(extent));
  }

  void end_tensor() {
    const char* missing = !has_dtype_     ? "dtype"
                          : !has_shape_   ? "shape"
                          : !has_offsets_ ? "data_offsets"
                                          : nullptr;
    check(missing == nullptr, in_tensor(),
          "its fields must be dtype, shape and data_offsets (got no ",
          missing == nullptr ? "" : missing, ")");
    const TensorInfo& info = tensor();
    check(info.begin <= info.end, in_tensor(), "data_offsets must not run backwards (got [",
          info.begin, ", ", info.end, "])");
    check(info.end - info.begin == byte_size(info), in_tensor(), "data_offsets must span ",
          byte_size(info), " bytes for its shape and dtype (got ", info.end - info.begin, ")");
  }

  // Zero extents count as 1 in the overflow check, so that a later product of the others is safe
  // too.
  int64_t byte_size(const TensorInfo& info) {
    int64_t size = dtype_size(info.dtype);
    bool empty = false;
    for (const int64_t extent : info.shape) {
      empty = empty || extent == 0;
      check(!__builtin_mul_overflow(size, std::max<int64_t>(extent, 1), &size), in_tensor(),
            "its size in bytes must be below 2^63 (got more)");
    }
    return empty ? 0 : size;
  }

  const std::string& path_;
  State state_ = State::start;
  std::string metadata_key_;
  int offsets_ = 0;
  bool has_metadata_ = false;
  bool has_dtype_ = false;
  bool has_shape_ = false;
  bool has_offsets_ = false;
};

// Checks what the parser does not: it treats a NUL as the end and ignores what follows. On an error
// it copies the current token, or the blanks before it, several times, a newline as eight bytes. So
// neither may be too long.
void check_tokens(const std::string& path, const std::string& json) {
  const size_t nul = json.find('\0');
  require<IoError>(nul == std::string::npos, path,
                   ": the header must be valid JSON (got a NUL at byte ", nul + 1, " of it)");
  constexpr std::string_view blanks = " \t\r\n", marks = "{}[]:,";
  bool in_string = false;
  size_t start = 0;  // of the token that position i is in
  size_t row = 0;    // the blanks that end there
  for (size_t i = 0; i < json.size(); ++i) {
    const bool blank = !in_string && blanks.find(json[i]) != std::string_view::npos;
    if (in_string && json[i] == '\\') {
      ++i;
    } else if (json[i] == '"') {
      in_string = !in_string;
      start = i + 1;
    } else if (blank || (!in_string && marks.find(json[i]) != std::string_view::npos)) {
      start = i + 1;
    }
    row = blank ? row + 1 : 0;
    require<IoError>(row <= limits::blanks, path, ": the header must have at most ", limits::blanks,
                     " blanks in a row (got more at byte ", i + 1, " of it)");
    require<IoError>(i - start + 1 <= limits::token_bytes || i < start, path,
                     ": a string or number in the header must have at most ", limits::token_bytes,
                     " bytes (got more at byte ", start + 1, " of it)");
  }
}

}  // namespace

std::string_view dtype_name(Dtype dtype) { return dtypes[static_cast<size_t>(dtype)].name; }
int64_t dtype_size(Dtype dtype) { return dtypes[static_cast<size_t>(dtype)].size; }

SafeTensorsHeader parse_safetensors_header(const std::string& path, const std::string& json) {
  const size_t first = json.find_first_not_of(" \t\r\n");
  require<IoError>(first != std::string::npos && json[first] == '{', path,
                   ": the header must begin with '{' (got ",
                   first == std::string::npos ? "nothing" : "another byte", ")");
  check_tokens(path, json);
  HeaderParser parser(path);
  nlohmann::json::sax_parse(json, &parser);

  std::vector<TensorInfo>& tensors = parser.tensors;
  std::sort(tensors.begin(), tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::vector<uint32_t> by_name(tensors.size());
  std::iota(by_name.begin(), by_name.end(), 0U);
  std::sort(by_name.begin(), by_name.end(),
            [&](uint32_t a, uint32_t b) { return tensors[a].name < tensors[b].name; });
  const auto twice = std::adjacent_find(
      by_name.begin(), by_name.end(),
      [&](uint32_t a, uint32_t b) { return tensors[a].name == tensors[b].name; });
  require<IoError>(twice == by_name.end(), path, ": a tensor name must appear once (got ",
                   twice == by_name.end() ? "" : in_quotes(tensors[*twice].name), " twice)");
  return {std::move(tensors), std::move(by_name), std::move(parser.metadata)};
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
  const auto json_text = [](const std::string& text) { return nlohmann::json(text).dump(); };
  std::string json = "{";
  const auto separate = [&] { json += json.size() > 1 && json.back() != '{' ? "," : ""; };
  if (!metadata.empty()) {
    json += "\"__metadata__\":{";
    for (const auto& [key, value] : metadata) {
      separate();
      json += json_text(key) + ":" + json_text(value);
    }
    json += "}";
  }
  for (const TensorInfo& info : tensors) {
    separate();
    json += json_text(info.name) + ":{\"dtype\":\"" + std::string(dtype_name(info.dtype)) +
            "\",\"shape\":" + nlohmann::json(info.shape).dump() + ",\"data_offsets\":[" +
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
} catch (const nlohmann::json::exception&) {
  fail<IoError>(path, ": names and metadata must be UTF-8 (got something else)");
}

}  // namespace heed
