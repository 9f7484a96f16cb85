// A folder for the files of one test. The destructor removes it with all its contents.
#pragma once

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>

namespace heed::testing {

class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "heed-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), name);
    }
    path_ = name;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  // A message without the path of this folder before the names of files in it.
  std::string cut_from(std::string message) const {
    const std::string path = path_.string() + "/";
    for (size_t at; (at = message.find(path)) != std::string::npos;) message.erase(at, path.size());
    return message;
  }

 private:
  std::filesystem::path path_;
};

// How many files and folders are directly in a folder.
inline size_t entries(const std::filesystem::path& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder),
                                           std::filesystem::directory_iterator()));
}

}  // namespace heed::testing
