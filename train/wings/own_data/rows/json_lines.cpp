#include "train/wings/own_data/rows/json_lines.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "layers/text/display.h"
#include "train/wings/own_data/rows/lines.h"

namespace heed {

namespace {

// Takes cells out of an object as it is parsed. Nothing else is kept, and nothing recurses.
class CellsOfObject final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit CellsOfObject(std::span<const RowColumn> columns)
      : cells(columns.size()), columns_(columns) {}

  // "" if all cells were found in a line, else what is wrong with it.
  std::string read(std::string_view line) {
    for (Cell& cell : cells) cell = {};
    keys_.clear();
    wrong_.clear();
    depth_ = 0;
    wanted_ = nullptr;
    is_object_ = false;
    nlohmann::json::sax_parse(line, this);
    if (wrong_.empty() && !is_object_) {
      return "expected a JSON object, got another value";
    }
    for (size_t k = 0; k < cells.size() && wrong_.empty(); ++k) {
      if (!cells[k].found && !columns_[k].is_optional) {
        wrong_ = missing(name_of(columns_[k]));
      }
    }
    return wrong_;
  }

  struct Cell {
    bool found = false;
    std::string text;
  };
  std::vector<Cell> cells;

  bool key(string_t& name) override {
    wanted_ = nullptr;
    if (depth_ != 1) {
      return true;
    }
    keys_.push_back(name);
    for (size_t k = 0; k < columns_.size(); ++k) {
      if (name == name_of(columns_[k])) {
        if (cells[k].found) {
          return refuse(text("expected the key ", printable(name), " once, got it twice"));
        }
        wanted_ = &columns_[k];
      }
    }
    return true;
  }
  bool string(string_t& value) override { return take(value); }
  bool number_integer(number_integer_t value) override {
    return take_label("a number", std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return take_label("a number", std::to_string(value));
  }
  bool number_float(number_float_t, const string_t& as_written) override {
    return take_label("a number", as_written);
  }
  bool boolean(bool value) override { return take_label("a truth", value ? "true" : "false"); }
  bool null() override {
    return wanted_ != nullptr && wanted_->is_optional ? take("") : refuse_wanted("null");
  }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    is_object_ = is_object_ || depth_ == 0;
    ++depth_;
    return refuse_wanted("an object");
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ == 0) {
      return refuse("expected a JSON object, got an array");
    }
    ++depth_;
    return refuse_wanted("an array");
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    const bool half = std::string_view(error.what()).find("surrogate") != std::string_view::npos;
    return refuse(text("expected a JSON object, got ",
                       half ? "half of a character, \\ud800 to \\udfff alone," : "an error in it",
                       " at byte ", position));
  }

 private:
  static const std::string& name_of(const RowColumn& column) {
    return column.name.empty() ? column.role : column.name;
  }
  bool refuse(std::string message) {
    wrong_ = wrong_.empty() ? std::move(message) : wrong_;
    return false;
  }
  bool refuse_wanted(const char* got) {
    return wanted_ == nullptr ||
           refuse(text("expected text as ", name_of(*wanted_), ", got ", got));
  }
  bool take(const std::string& value) {
    if (wanted_ != nullptr) {
      cells[static_cast<size_t>(wanted_ - columns_.data())] = {true, value};
      wanted_ = nullptr;
    }
    return true;
  }
  bool take_label(const char* kind, const std::string& as_text) {
    return wanted_ != nullptr && !wanted_->is_label ? refuse_wanted(kind) : take(as_text);
  }
  std::string missing(const std::string& name) const {
    std::string list;
    for (const std::string& key : keys_) {
      list += (list.empty() ? "" : ", ") + printable(key);
    }
    const std::string near = nearest(name, keys_);
    return text("expected the key ", printable(name), ", got ",
                list.empty() ? "no key" : printable(list, 200),
                near.empty() ? "" : "; did you mean " + printable(near) + "?");
  }

  const std::span<const RowColumn> columns_;
  const RowColumn* wanted_ = nullptr;  // that the next value is for
  std::vector<std::string> keys_;
  std::string wrong_;
  int64_t depth_ = 0;
  bool is_object_ = false;
};

// Copies a cell to `to` and returns the copy.
std::string_view put(std::span<char>& to, const std::string& cell) {
  std::copy(cell.begin(), cell.end(), to.begin());
  const std::string_view put(to.data(), cell.size());
  to = to.subspan(cell.size());
  return put;
}

}  // namespace

std::string read_json_object(std::string_view text, std::span<const RowColumn> columns,
                             std::vector<std::string>& cells) {
  CellsOfObject object(columns);
  std::string wrong = object.read(text);
  cells.clear();
  for (CellsOfObject::Cell& cell : object.cells) cells.push_back(std::move(cell.text));
  return wrong;
}

void read_json_lines(std::span<char> text, const std::array<RowColumn, 2>& columns,
                     RowMistakes& mistakes, const AddRow& add) {
  const size_t count = columns[1].role.empty() ? 1 : 2;
  CellsOfObject object{std::span(columns).first(count)};
  Lines lines(text);
  while (const std::optional<Line> line = lines.next()) {
    int64_t above = 0;
    std::string wrong = wrong_bytes(line->text(), above);
    if (wrong.empty()) {
      wrong = object.read(line->text());
    }
    if (!wrong.empty()) {
      mistakes.add(line->number, wrong);
      continue;
    }
    std::span<char> room = line->bytes;
    const std::string_view first = put(room, object.cells[0].text);
    add({first, put(room, count > 1 ? object.cells[1].text : "")}, line->number);
  }
}

}  // namespace heed
