// A place for fuzz_run_folder: a trained run, what lies outside of it, and ways to put something
// else in the place of a file or folder of the run.
#pragma once

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <map>
#include <vector>

#include "autograd/base/error.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/temp_dir.h"
#include "train/checkpoint/manifest.h"

namespace heed::fuzz {

namespace fs = std::filesystem;

// What is at a path; links are not followed.
struct Entry {
  fs::file_type type = fs::file_type::none;
  std::string bytes = {};  // of a regular file; of a link, its target
  fs::perms mode = {};
  uintmax_t names = 1;  // hard links of a regular file

  bool operator==(const Entry&) const = default;
};

// By path, relative to the current folder.
using Tree = std::map<std::string, Entry>;

inline std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return "";  // not for this user
  std::string bytes(static_cast<size_t>(file.tellg()), '\0');
  file.seekg(0).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

inline Entry entry_at(const fs::path& path) {
  std::error_code hidden;  // in a folder that this user may not search
  const fs::file_status status = fs::symlink_status(path, hidden);
  Entry entry{.type = status.type(), .mode = status.permissions()};
  if (entry.type == fs::file_type::symlink) entry.bytes = fs::read_symlink(path).string();
  if (entry.type == fs::file_type::regular) {
    entry.bytes = bytes_of(path);
    entry.names = fs::hard_link_count(path);
  }
  return entry;
}

// Of the path and everything below it. Folders that this user may not read count as empty.
inline Tree tree_at(const fs::path& path) {
  Tree tree{{path.string(), entry_at(path)}};
  if (tree.begin()->second.type == fs::file_type::not_found) return {};
  if (tree.begin()->second.type == fs::file_type::directory) {
    constexpr auto skip = fs::directory_options::skip_permission_denied;
    for (const fs::directory_entry& each : fs::recursive_directory_iterator(path, skip)) {
      tree.emplace(each.path().string(), entry_at(each.path()));
    }
  }
  return tree;
}

// Makes the folders, files and links of a tree of which nothing is there.
inline void put(const Tree& tree) {
  for (const auto& [path, entry] : tree) {  // a folder comes before what is in it
    if (entry.type == fs::file_type::directory) {
      fs::create_directory(path);
    } else if (entry.type == fs::file_type::symlink) {
      fs::create_symlink(entry.bytes, path);
    } else {
      write(path, entry.bytes);
    }
  }
}

// Removes the path with everything below it, also what its owner may not write.
inline void clear_away(const fs::path& path) {
  if (fs::is_directory(fs::symlink_status(path))) {
    ::chmod(path.c_str(), 0700);
    for (const fs::directory_entry& each : fs::directory_iterator(path)) clear_away(each.path());
  }
  fs::remove(path);
}

// Root may read and write everything. During its lifetime a process of root is another user, for
// whom modes count; other processes stay who they are.
class OtherUser {
 public:
  static constexpr uid_t nobody = 65534;
  explicit OtherUser(bool wanted) : changed_(wanted && ::geteuid() == 0) {
    if (changed_) expect(::seteuid(nobody) == 0, "to become another user");
  }
  OtherUser(const OtherUser&) = delete;
  OtherUser& operator=(const OtherUser&) = delete;
  ~OtherUser() {
    if (changed_) expect(::seteuid(0) == 0, "to become root again");
  }

 private:
  const bool changed_;
};

// One instruction puts something in one place:
//   place, what, and for some of them an argument
class Changes {
 public:
  // `run` is a run folder, `outside` another place with a copy of that run, `run`, and a file,
  // `mine`; both relative to the current folder. `others`: more places, around the run.
  Changes(std::string run, std::string outside, std::vector<std::string> others)
      : run_(std::move(run)), outside_(std::move(outside)), places_(std::move(others)) {
    for (const auto& [path, entry] : tree_at(run_)) places_.push_back(path);
    for (const char* name : {"/checkpoints/step-000003", "/checkpoints/step-000005",
                             "/checkpoints/step-000006", "/checkpoints/.heed-tmp-4194305-0",
                             "/.heed-tmp-4194305-0"}) {  // a process of no such number can live
      places_.push_back(run_ + name);
    }
  }

  bool signed_again() const { return signed_again_; }

  // Interprets the input to its end, 16 instructions at most.
  void apply(Input& input) {
    signed_again_ = false;
    for (int i = 0; i < 16 && input.size() >= 2; ++i) {
      const fs::path place = next_place(input);
      const uint8_t what = input.byte();
      try {
        if (is_ours(place)) change(place, what % 16, input);
      } catch (const fs::filesystem_error&) {  // impossible: a folder below itself, no permission
      }
    }
  }

 private:
  const std::string& next_place(Input& input) { return places_[input.byte() % places_.size()]; }

  // Whether no folder above it is a link: what is done there stays inside.
  static bool is_ours(const fs::path& path) {
    for (fs::path above = path.parent_path(); !above.empty(); above = above.parent_path()) {
      if (!fs::is_directory(fs::symlink_status(above))) return false;
    }
    return true;
  }
  bool is_in_run(const std::string& place) const { return place.starts_with(run_ + "/"); }
  // The same outside of the run.
  fs::path counterpart(const std::string& place) const {
    const bool has = is_in_run(place);
    return fs::absolute(outside_) / (has ? "run" + place.substr(run_.size()) : "mine");
  }

  void change(const fs::path& place, int what, Input& input) {
    switch (what) {
      case 0:
        return clear_away(place);
      case 1:
        return rewrite(
            place, [&](std::string& bytes) { bytes.resize(input.number() % (bytes.size() + 1)); });
      case 2:
        return rewrite(place, [&](std::string& bytes) {
          const size_t at = input.number();
          if (!bytes.empty()) bytes[at % bytes.size()] = static_cast<char>(input.byte());
        });
      case 3:
        return rewrite(place, [&](std::string& bytes) {
          bytes.clear();
          for (size_t left = input.byte(); left > 0 && input.size() > 0; --left) {
            bytes += static_cast<char>(input.byte());
          }
        });
      case 4:
        return link(place, counterpart(place));
      case 5:
        return link(place, fs::absolute(outside_) / "none");
      case 6:
        return link(place, fs::absolute(place));
      case 7:
        return link(place, "/dev/zero");
      case 8:
        return link(place, fs::absolute(next_place(input)));
      case 9:
        return hard_link(place);
      case 10:
        return clear_away(place), void(::mkfifo(place.c_str(), 0666));
      case 11:
        return clear_away(place), void(fs::create_directory(place));
      case 12:
        return make_socket(place);
      case 13:
        return set_mode(place, input.byte());
      case 14:
        return move(place, next_place(input));
      default:
        return sign_again(place.parent_path());
    }
  }

  static void link(const fs::path& place, const fs::path& target) {
    clear_away(place);
    fs::create_symlink(target, place);
  }
  void hard_link(const fs::path& place) const {
    const fs::path other = counterpart(place.string());
    const bool is_file = fs::is_regular_file(fs::symlink_status(other));
    clear_away(place);
    fs::create_hard_link(is_file ? other : fs::path(outside_) / "mine", place);
  }
  static void make_socket(const fs::path& place) {
    clear_away(place);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = place.string();
    name.copy(address.sun_path, sizeof address.sun_path - 1);
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    ::close(socket);
  }
  // The file may have a name outside, whose bytes and mode must stay.
  static bool is_only_name(const fs::path& place) {
    return !fs::is_regular_file(fs::symlink_status(place)) || fs::hard_link_count(place) == 1;
  }
  static void set_mode(const fs::path& place, uint8_t which) {
    constexpr std::array<mode_t, 4> modes{0000, 0222, 0444, 0555};
    if (!fs::is_symlink(place) && is_only_name(place)) {
      ::chmod(place.c_str(), modes[which % modes.size()]);
    }
  }
  static void move(const fs::path& from, const fs::path& to) {
    if (is_ours(to)) fs::rename(from, to);
  }
  // Makes a new file, since this one may have a name outside.
  template <class Edit>
  static void rewrite(const fs::path& place, Edit&& edit) {
    if (!fs::is_regular_file(fs::symlink_status(place))) return;
    std::string bytes = bytes_of(place);
    edit(bytes);
    fs::remove(place);
    write(place, bytes);
  }
  // A link to another file of the run, such as its lock, changes when a command writes that.
  bool is_borrowed(const fs::path& file) const {
    if (!fs::is_symlink(file)) return false;
    const std::string target = fs::canonical(file).string(), all = fs::canonical(run_).string();
    return target.starts_with(all) &&
           fs::path(target).parent_path() != fs::canonical(file.parent_path());
  }
  // The manifest of a checkpoint made to fit its files as they are now, for damage that no checksum
  // finds.
  void sign_again(const fs::path& folder) {
    const fs::path file = folder / "manifest.json";
    if (!fs::is_regular_file(fs::symlink_status(file))) return;
    try {
      Manifest manifest = read_manifest(folder);
      for (auto& [name, print] : manifest.files) {
        if (is_borrowed(folder / name)) return;
        print = fingerprint_file(folder / name);
      }
      write_manifest(folder, manifest);
      signed_again_ = true;
    } catch (const IoError&) {  // it, or one of the files, is missing or no file
    }
  }

  const std::string run_, outside_;
  std::vector<std::string> places_;
  bool signed_again_ = false;
};

}  // namespace heed::fuzz
