#include "train/files/files.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>

#include "autograd/base/error.h"
#include "tests/support/errors.h"
#include "tests/support/temp_dir.h"

namespace fs = std::filesystem;
using namespace heed;
using namespace heed::testing;

namespace {

constexpr int64_t anything = int64_t{1} << 30;

std::string pattern(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<char>((i * 131 + 7) % 256);
  }
  return bytes;
}

// Limits the size of files to `bytes` during its lifetime: writing then fails as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    handler_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

}  // namespace

TEST_CASE("files: a Git LFS pointer stands where the file should be") {
  const TempDir folder;
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 9\n";
  write_file_atomically(folder / "text", pointer);
  CHECK(error_of([&] { read_file(folder / "text", anything); }) ==
        (folder / "text").string() + ": is a Git LFS pointer: git lfs pull fetches the file");
  // Texts about pointers, and beginnings of one.
  for (const std::string& other :
       {" " + pointer, pointer.substr(0, 20), pointer + std::string(1024, '.')}) {
    write_file_atomically(folder / "other", other);
    CHECK(read_file(folder / "other", anything) == other);
  }
}

TEST_CASE("xxh64: values of the reference implementation") {
  struct Row {
    size_t size;
    uint64_t hash;
  };
  const Row rows[] = {
      {0, 0xEF46DB3751D8E999},  {1, 0xA96C7F0CE858BBB7},    {3, 0xBED43740EE6332BB},
      {4, 0xFA212AE44B3BB23D},  {7, 0x2744460DD675D2C0},    {8, 0x994B676B71CE94DD},
      {15, 0x09E6451ED2FF8B1D}, {31, 0x6711D55E306B5D8F},   {32, 0x07F7B8E3BC5D6E25},
      {33, 0x09F85EEB4E1CBE9F}, {63, 0xB7C9968C066CB6A5},   {64, 0x50D4159A0411632E},
      {95, 0x928C35B989D3C594}, {1000, 0x0BF0BDBCC82EB373},
  };
  for (const Row& row : rows) {
    CAPTURE(row.size);
    CHECK(fingerprint(as_bytes(pattern(row.size))).xxh64 == row.hash);
  }
  CHECK(fingerprint(as_bytes("abc")).text() == "xxh64:44bc2cf5ad770999:3");
}

TEST_CASE("xxh64: the same for any division into parts") {
  const std::string bytes = pattern(200);
  const Fingerprint whole = fingerprint(as_bytes(bytes));
  int compared = 0;
  for (size_t part = 1; part <= 70; ++part) {
    RunningFingerprint print;
    for (size_t at = 0; at < bytes.size(); at += part) {
      print.add(as_bytes(std::string_view(bytes).substr(at, part)));
    }
    compared += print.so_far() == whole ? 1 : 0;
  }
  CHECK(compared == 70);
}

TEST_CASE("read_file: whole, empty and too long") {
  const TempDir dir;
  const std::string bytes = pattern(5000);
  std::ofstream(dir / "a", std::ios::binary) << bytes;
  std::ofstream(dir / "empty").flush();
  CHECK(read_file(dir / "a", 5000) == bytes);
  CHECK(read_file(dir / "empty", 0).empty());
  const std::string path = (dir / "a").string();
  CHECK(message_of<IoError>([&] { read_file(dir / "a", 4999); }) ==
        path + ": expected at most 4999 bytes, got 5000");
  // A sparse file of a terabyte is refused before memory is allocated for it.
  fs::resize_file(dir / "a", uintmax_t{1} << 40);
  CHECK(message_of<IoError>([&] { read_file(dir / "a", anything); }) ==
        path + ": expected at most 1073741824 bytes, got 1099511627776");
}

TEST_CASE("read_file: only regular files, and it never waits") {
  const TempDir dir;
  const std::string folder = dir.path().string();
  CHECK(message_of<IoError>([&] { read_file(folder, 1); }) ==
        folder + ": cannot read: expected a file, got a folder");
  const std::string pipe = (dir / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(message_of<IoError>([&] { read_file(pipe, 1); }) ==
        pipe + ": cannot read: expected a file, got a pipe, device or socket");
  CHECK(message_of<IoError>([&] { read_file("/dev/zero", 1); }) ==
        "/dev/zero: cannot read: expected a file, got a pipe, device or socket");
  const std::string none = (dir / "none").string();
  CHECK(message_of<IoError>([&] { read_file(none, 1); }) ==
        none + ": cannot open: No such file or directory");
}

TEST_CASE("FileReader: a file that shrank is an error") {
  const TempDir dir;
  std::ofstream(dir / "a") << "0123456789";
  const FileReader file(dir / "a");
  fs::resize_file(dir / "a", 4);
  std::byte bytes[10];
  CHECK(message_of<IoError>([&] { file.read(0, bytes); }) ==
        (dir / "a").string() +
            ": cannot read: the file ends at byte 4, it had 10 bytes when it was opened");
}

TEST_CASE("write_file_atomically: new, replaced, in parts, large") {
  const TempDir dir;
  const fs::path path = dir / "a";
  const Fingerprint first = write_file_atomically(path, "first");
  CHECK(read_file(path, anything) == "first");
  CHECK(first == fingerprint(as_bytes("first")));
  CHECK(first == fingerprint_file(path));

  const std::string large = pattern((size_t{3} << 20) + 17);
  const Fingerprint second = write_file_atomically(path, [&](FileWriter& out) {
    for (const std::string& part :
         {std::string("head"), std::string(), large, std::string("tail")}) {
      out.write(as_bytes(part));
    }
  });
  CHECK(read_file(path, anything) == "head" + large + "tail");
  CHECK(second == fingerprint_file(path));
  CHECK(entries(dir.path()) == 1);

  write_file_atomically(path, [&](FileWriter& out) {
    for (size_t at = 0; at < large.size(); at += 1001) {
      out.write(as_bytes(std::string_view(large).substr(at, 1001)));
    }
  });
  CHECK(read_file(path, anything) == large);
  CHECK(write_file_atomically(path, "").bytes == 0);
  CHECK(fs::file_size(path) == 0);
}

TEST_CASE("write_file_atomically: a full disk leaves the old file and no temporary") {
  const TempDir dir;
  const fs::path path = dir / "a";
  write_file_atomically(path, "old");
  for (const size_t size : {size_t{100'000}, size_t{5} << 20}) {  // in the last flush; before it
    const std::string bytes = pattern(size);
    const FileSizeLimit limit(65536);
    CHECK(message_of<IoError>([&] { write_file_atomically(path, bytes); }) ==
          path.string() + ": cannot write: File too large");
    CHECK_THROWS_AS(write_file_atomically(dir / "b", bytes), IoError);
  }
  CHECK(read_file(path, anything) == "old");
  CHECK(entries(dir.path()) == 1);
}

TEST_CASE("write_file_atomically: an exception of the producer changes nothing") {
  const TempDir dir;
  write_file_atomically(dir / "a", "old");
  CHECK_THROWS_AS(write_file_atomically(dir / "a",
                                        [](FileWriter& out) {
                                          out.write(as_bytes("half"));
                                          throw std::runtime_error("stop");
                                        }),
                  std::runtime_error);
  CHECK(read_file(dir / "a", anything) == "old");
  CHECK(entries(dir.path()) == 1);
}

TEST_CASE("write_file_atomically: links, devices, folders and missing folders") {
  const TempDir dir;
  write_file_atomically(dir / "a", "old");
  fs::create_symlink("a", dir / "link");
  write_file_atomically(dir / "link", "new");
  CHECK(fs::is_symlink(dir / "link"));
  CHECK(read_file(dir / "a", anything) == "new");

  fs::create_symlink("nothing", dir / "dangling");
  CHECK(message_of<IoError>([&] { write_file_atomically(dir / "dangling", "x"); }) ==
        (dir / "dangling").string() + ": cannot write: a symbolic link to nothing");
  CHECK(message_of<IoError>([&] { write_file_atomically("/dev/null", "x"); }) ==
        "/dev/null: cannot write: it exists and is not a regular file");
  CHECK(fs::is_character_file("/dev/null"));
  const std::string folder = dir.path().string();
  CHECK(message_of<IoError>([&] { write_file_atomically(folder, "x"); }) ==
        folder + ": cannot write: it exists and is not a regular file");
  CHECK(message_of<IoError>([&] { write_file_atomically(dir / "no/a", "x"); }) ==
        folder + "/no/a: cannot write: the folder " + folder + "/no does not exist");
}

TEST_CASE("write_file_atomically: a file that is replaced keeps its permission bits") {
  const TempDir dir;
  const mode_t mask = ::umask(022);
  const auto bits = [&](const char* name) { return fs::status(dir / name).permissions(); };
  write_file_atomically(dir / "a", "new");
  CHECK(bits("a") == fs::perms(0644));
  fs::create_symlink("a", dir / "link");
  for (const int mode : {0600, 0664, 0444, 0755}) {
    fs::permissions(dir / "a", fs::perms(mode));
    write_file_atomically(dir / "link", [&](FileWriter&) {
      for (const fs::directory_entry& entry : fs::directory_iterator(dir.path())) {
        CHECK(entry.status().permissions() == fs::perms(mode));  // the temporary too
      }
    });
    CHECK(bits("a") == fs::perms(mode));
  }
  ::umask(mask);
  fs::permissions(dir / "a", fs::perms(04755));  // the right to act as its owner is not inherited
  write_file_atomically(dir / "a", "other");
  CHECK(bits("a") == fs::perms(0755));
}

TEST_CASE("files: Links::refuse changes nothing outside of the folder") {
  const TempDir dir;
  write_file_atomically(dir / "outside", "mine");
  fs::create_symlink("outside", dir / "link");
  fs::create_symlink("nothing", dir / "dangling");
  fs::create_hard_link(dir / "outside", dir / "hard");
  const auto is_link = [&](const char* name) {
    return (dir / name).string() +
           ": is a symbolic link; heed writes through none inside a run folder; put the file or "
           "folder itself there";
  };
  for (const char* name : {"link", "dangling"}) {
    CHECK(message_of<IoError>([&] { write_file_atomically(dir / name, "x", Links::refuse); }) ==
          is_link(name));
    for (const int flags : {O_WRONLY | O_APPEND, O_RDWR, O_WRONLY | O_TRUNC}) {
      CHECK(message_of<IoError>([&] { open_in_place(dir / name, flags); }) == is_link(name));
    }
  }
  CHECK(message_of<IoError>([&] { open_in_place(dir / "hard", O_RDWR); }) ==
        (dir / "hard").string() +
            ": cannot write: the file has 2 names (hard links) and would change under "
            "each; put a copy in its place");
  REQUIRE(::mkfifo((dir / "pipe").c_str(), 0600) == 0);
  const std::string is_pipe = (dir / "pipe").string() +
                              ": cannot write: it exists and is not a "
                              "regular file";
  for (const int flags : {O_WRONLY, O_RDWR}) {  // and does not wait
    CHECK(message_of<IoError>([&] { open_in_place(dir / "pipe", flags); }) == is_pipe);
  }
  CHECK(!fs::exists(dir / "nothing"));

  write_file_atomically(dir / "hard", "new", Links::refuse);  // a new file of this name
  CHECK(read_file(dir / "outside", anything) == "mine");
  CHECK(read_file(dir / "hard", anything) == "new");
  CHECK(open_in_place(dir / "made", O_WRONLY).get() >= 0);
  CHECK(read_file(dir / "made", anything).empty());
}

TEST_CASE("write_folder_atomically: new, replaced, failed") {
  const TempDir dir;
  const fs::path path = dir / "step-000500";
  const auto fill = [&](const std::string& text) {
    return [&, text](const fs::path& folder) {
      CHECK(folder.parent_path() == dir.path());
      CHECK(folder.filename().string().starts_with(".heed-tmp-"));
      write_file_atomically(folder / "model", text);
      fs::create_directory(folder / "inner");
      std::ofstream(folder / "inner" / "plain") << text;
    };
  };
  write_folder_atomically(path, fill("one"));
  CHECK(read_file(path / "model", anything) == "one");
  CHECK(read_file(path / "inner" / "plain", anything) == "one");
  std::ofstream(path / "extra") << "from before";
  write_folder_atomically(path / "", fill("two"));  // with a trailing slash
  CHECK(read_file(path / "model", anything) == "two");
  CHECK_FALSE(fs::exists(path / "extra"));
  CHECK_THROWS_AS(write_folder_atomically(path,
                                          [&](const fs::path& folder) {
                                            write_file_atomically(folder / "model", "three");
                                            throw std::runtime_error("stop");
                                          }),
                  std::runtime_error);
  CHECK(read_file(path / "model", anything) == "two");
  CHECK(entries(dir.path()) == 1);
}

TEST_CASE("write_folder_atomically: a folder that appears meanwhile stays") {
  const TempDir dir;
  const fs::path path = dir / "export";
  for (const bool empty : {true, false}) {
    CAPTURE(empty);
    CHECK(message_of<IoError>([&] {
            write_folder_atomically(
                path,
                [&](const fs::path& folder) {
                  write_file_atomically(folder / "model", "ours");
                  fs::create_directory(path);
                  if (!empty) write_file_atomically(path / "model", "theirs");
                },
                Existing::refuse);
          }) == path.string() + ": has appeared meanwhile; it stays, and nothing was written");
    CHECK(fs::exists(path / "model") != empty);
    CHECK(entries(dir.path()) == 1);
    fs::remove_all(path);
  }
  write_folder_atomically(
      path, [](const fs::path& folder) { write_file_atomically(folder / "model", "ours"); },
      Existing::refuse);
  CHECK(read_file(path / "model", anything) == "ours");
}

TEST_CASE("write_folder_atomically: refusals") {
  const TempDir dir;
  const std::string base = dir.path().string();
  const auto nothing = [](const fs::path&) {};
  write_file_atomically(dir / "file", "x");
  CHECK(message_of<IoError>([&] { write_folder_atomically(dir / "file", nothing); }) ==
        base + "/file: cannot write: it exists and is not a folder");
  CHECK(message_of<IoError>([&] { write_folder_atomically(dir / "no/a", nothing); }) ==
        base + "/no/a: cannot write: the folder " + base + "/no does not exist");
  const std::string bytes = pattern(100'000);
  const FileSizeLimit limit(65536);
  for (const char* name : {"step-1", "step-1/"}) {  // a full disk: named as the caller knows it
    CHECK(message_of<IoError>([&] {
            write_folder_atomically(
                dir / name, [&](const fs::path& to) { write_file_atomically(to / "a", bytes); });
          }) == base + "/step-1/a: cannot write: File too large");
  }
  CHECK(entries(dir.path()) == 1);
}
