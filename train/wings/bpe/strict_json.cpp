#include "train/wings/bpe/strict_json.h"

#include <nlohmann/json.hpp>
#include <unordered_set>
#include <vector>

#include "autograd/base/error.h"
#include "layers/text/display.h"

namespace heed {

namespace {

class StrictReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  StrictReader(const std::string& where, int deepest) : where_(where), deepest_(deepest) {}

  bool key(string_t& name) override {
    require<IoError>(keys_.back().insert(name).second, where_,
                     ": expected every key of an object once, got ", printable(name), " twice");
    return true;
  }
  bool start_object(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override { return close(); }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }

  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::json::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..."
    const std::string message = error.what();
    const size_t at = message.find("at line ");
    fail<IoError>(where_, ": expected JSON, got an error ",
                  printable(message.substr(at == std::string::npos ? 0 : at), 200));
  }

 private:
  bool open() {
    require<IoError>(std::ssize(keys_) < deepest_, where_, ": expected at most ", deepest_,
                     " levels of brackets, got more");
    keys_.emplace_back();
    return true;
  }
  bool close() {
    keys_.pop_back();
    return true;
  }

  const std::string& where_;
  const int deepest_;
  std::vector<std::unordered_set<std::string>>
      keys_;  // of each object that is open; of a list none
};

}  // namespace

void require_strict_json(std::string_view text, const std::string& where, int deepest) {
  StrictReader reader(where, deepest);
  nlohmann::json::sax_parse(text, &reader);
}

}  // namespace heed
