#include "train/checkpoint/manifest.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "autograd/base/rethrow.h"
#include "train/files/run_files.h"

namespace heed {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr const char* checksum_key = "xxh64";
constexpr int64_t max_manifest_bytes = 1 << 16;
constexpr size_t max_files = 64;

// The 16 digits of Fingerprint::text(), "xxh64:<digits>:<length>".
std::string digits_of(const Fingerprint& print) { return print.text().substr(6, 16); }

uint64_t hash_from(const std::string& digits) {
  uint64_t hash = 0;
  const char* end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, hash, 16);
  require<IoError>(digits.size() == 16 && error == std::errc() && rest == end,
                   "expected a checksum of 16 hexadecimal digits");
  return hash;
}

// Checksum of the object without its own "xxh64". Keys are sorted, so their order in the file does
// not matter.
std::string checksum(const Json& facts) { return digits_of(fingerprint(as_bytes(facts.dump()))); }

int64_t count_at(const Json& facts, const char* key) {
  require<IoError>(facts.at(key).is_number_integer() && facts.at(key).get<int64_t>() >= 0,
                   "expected ", key, " to be an integer >= 0");
  return facts.at(key).get<int64_t>();
}

// Limits the nesting, because dump() recurses.
bool refuse_depth(int depth, Json::parse_event_t, Json&) {
  require<IoError>(depth <= 3, "damaged: nested too deeply");
  return true;
}

Manifest parse(const std::string& bytes) {
  Json facts = Json::parse(bytes, refuse_depth);
  const int64_t format = count_at(facts, "format");
  require<IoError>(format == Manifest::format, "expected format ", Manifest::format, ", got ",
                   format, ": written by another version of heedgrad");
  const auto written = facts.at(checksum_key).get<std::string>();
  facts.erase(checksum_key);
  require<IoError>(written == checksum(facts), "damaged: its checksum does not fit");
  Manifest manifest{facts.at("heedgrad").get<std::string>(),
                    facts.at("precision").get<std::string>(),
                    count_at(facts, "step"),
                    {}};
  require<IoError>(facts.at("files").size() <= max_files, "expected at most ", max_files, " files");
  for (const auto& [name, print] : facts.at("files").items()) {
    require<IoError>(is_plain_name(name), "expected plain file names");
    manifest.files[name] = {count_at(print, "bytes"),
                            hash_from(print.at("xxh64").get<std::string>())};
  }
  const auto made_with = facts.value("made_with", Json::object());
  require<IoError>(made_with.size() <= max_files, "expected made_with of at most ", max_files);
  made_with.get_to(manifest.made_with);
  manifest.seconds = facts.value("seconds", 0.0);
  require<IoError>(manifest.seconds >= 0, "expected seconds to be a number >= 0");
  return manifest;
}

}  // namespace

void write_manifest(const fs::path& folder, const Manifest& manifest) {
  Json files = Json::object();
  for (const auto& [name, print] : manifest.files) {
    files[name] = {{"bytes", print.bytes}, {"xxh64", digits_of(print)}};
  }
  Json facts = {{"format", Manifest::format},
                {"heedgrad", manifest.version},
                {"precision", manifest.precision},
                {"step", manifest.step},
                {"files", files},
                {"made_with", manifest.made_with},
                {"seconds", manifest.seconds}};
  facts[checksum_key] = checksum(facts);
  write_file_atomically(folder / stored_manifest, facts.dump(2) + "\n");
}

Manifest read_manifest(const fs::path& folder) {
  const fs::path path = folder / stored_manifest;
  const std::string bytes = read_file(path, max_manifest_bytes);
  return with_place<IoError>(path.string() + ": ", [&] {
    try {
      return parse(bytes);
    } catch (const Json::exception&) {
      fail<IoError>("damaged: not the JSON of a manifest");
    }
  });
}

void check_files(const fs::path& folder, const Manifest& manifest, Check check) {
  for (const auto& [name, print] : manifest.files) {
    const fs::path path = folder / name;
    const int64_t bytes = FileReader(path).size();
    require<IoError>(bytes == print.bytes, path.string(), ": damaged: expected ", print.bytes,
                     " bytes, got ", bytes);
    require<IoError>(check == Check::sizes || fingerprint_file(path) == print, path.string(),
                     ": damaged: its checksum is not that of the file that was written");
  }
}

}  // namespace heed
