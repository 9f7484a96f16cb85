#include "train/files/strict_json.h"

#include <nlohmann/json.hpp>
#include <unordered_set>
#include <vector>

#include "autograd/base/error.h"
#include "layers/text/display.h"

namespace heed {

namespace {

class StrictReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  StrictReader(const std::string& where, int deepest, size_t most)
      : where_(where), deepest_(deepest), most_(most) {}

  bool key(string_t& name) override {
    require<IoError>(open_.back().keys.insert(name).second, where_,
                     ": expected every key of an object once, got ", printable(name), " twice");
    return true;
  }
  bool start_object(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override { return close(); }

  bool null() override { return count(); }
  bool boolean(bool) override { return count(); }
  bool number_integer(number_integer_t) override { return count(); }
  bool number_unsigned(number_unsigned_t) override { return count(); }
  bool number_float(number_float_t, const string_t&) override { return count(); }
  bool string(string_t&) override { return count(); }
  bool binary(binary_t&) override { return count(); }

  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::json::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..."
    const std::string message = error.what();
    const size_t at = message.find("at line ");
    fail<IoError>(where_, ": expected JSON, got an error ",
                  printable(message.substr(at == std::string::npos ? 0 : at), 200));
  }

 private:
  // Of brackets that are open.
  struct Level {
    std::unordered_set<std::string> keys;  // of an object
    size_t values = 0;
  };

  bool count() {
    require<IoError>(open_.empty() || ++open_.back().values <= most_, where_, ": expected at most ",
                     most_, " entries in brackets, got more");
    return true;
  }
  bool open() {
    count();
    require<IoError>(std::ssize(open_) < deepest_, where_, ": expected at most ", deepest_,
                     " levels of brackets, got more");
    open_.emplace_back();
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  const std::string& where_;
  const int deepest_;
  const size_t most_;
  std::vector<Level> open_;
};

}  // namespace

void require_strict_json(std::string_view text, const std::string& where, int deepest,
                         size_t most) {
  StrictReader reader(where, deepest, most);
  nlohmann::json::sax_parse(text, &reader);
}

}  // namespace heed
