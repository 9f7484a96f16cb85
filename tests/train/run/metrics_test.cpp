#include "train/run/metrics.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <string>
#include <vector>

#include "autograd/base/error.h"
#include "tests/support/broken_files.h"
#include "tests/support/errors.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace fs = std::filesystem;
using namespace heed;
using namespace heed::testing;

namespace {

const std::string columns = "step,loss,val_loss,lr,grad_norm,tokens,seconds,bits_per_byte\n";

}  // namespace

TEST_CASE("metrics: the exact text") {
  TempDir folder;
  const fs::path path = folder / "metrics.csv";
  MetricsWriter writer = MetricsWriter::resume(path, 0);
  CHECK(read_text(path) == columns);
  writer.write({.step = 1,
                .loss = 4.17438793182373046875,
                .lr = 1e-5,
                .grad_norm = 2.5,
                .tokens = 768,
                .seconds = 0.0351234567891});
  writer.write({.step = 10,
                .loss = 1.0 / 3,
                .val_loss = 1e-12,
                .lr = 1e-3,
                .grad_norm = 123456789.5,
                .tokens = 12345678901,
                .seconds = 1e9,
                .bits_per_byte = 1.375});
  writer.write({.step = 11, .val_loss = 2});
  CHECK(read_text(path) == columns +
                               "1,4.17438793,,1e-05,2.5,768,0.0351234568,\n"
                               "10,0.333333333,1e-12,0.001,123456790,12345678901,1e+09,1.375\n"
                               "11,,2,,,,,\n");
}

TEST_CASE("metrics: nine digits give a float back") {
  int compared = 0;
  for (const float value : {0.1F, 1.0F / 3, 4.174388F, 1e-7F, 16777217.0F, 3.4028235e38F}) {
    TempDir folder;
    MetricsWriter writer = MetricsWriter::resume(folder / "m.csv", 0);
    writer.write({.step = 1, .loss = value});
    CHECK(static_cast<float>(*read_metrics(folder / "m.csv").at(0).loss) == value);
    ++compared;
  }
  CHECK(compared == 6);
}

TEST_CASE("metrics: read back") {
  TempDir folder;
  const std::vector<MetricsRow> rows{
      {.step = 1, .loss = 4.5, .lr = 0.25, .grad_norm = 2, .tokens = 768, .seconds = 0.5},
      {.step = 7, .val_loss = 3.5, .lr = 0.25, .tokens = 1536, .seconds = 1},
      {.step = 8}};
  MetricsWriter writer = MetricsWriter::resume(folder / "m.csv", 0);
  for (const MetricsRow& row : rows) {
    writer.write(row);
  }
  CHECK(read_metrics(folder / "m.csv") == rows);
  write_file_atomically(folder / "n.csv",
                        columns.substr(0, columns.size() - 1) + ",mine\n8,,,,,,,,0.5\n9,1");
  CHECK(read_metrics(folder / "n.csv") ==
        std::vector<MetricsRow>{{.step = 8, .added = {{"mine", 0.5}}}});
}

TEST_CASE("metrics: a loss that layers add gets a column when it first comes") {
  TempDir folder;
  const fs::path path = folder / "m.csv";
  MetricsWriter writer = MetricsWriter::resume(path, 0);
  writer.write({.step = 1, .loss = 2});
  writer.write({.step = 2, .loss = 1.5, .added = {{"load_balancing", 0.25}}});
  writer.write({.step = 3, .added = {{"balance_2", 3}}});
  writer.write({.step = 4, .added = {{"load_balancing", 0.5}, {"balance_2", 1}}});
  std::string wider = columns;
  wider.insert(wider.size() - 1, ",load_balancing,balance_2");
  CHECK(read_text(path) == wider + "1,2,,,,,,\n2,1.5,,,,,,,0.25\n3,,,,,,,,,3\n4,,,,,,,,0.5,1\n");
  const std::vector<MetricsRow> rows = read_metrics(path);
  CHECK(rows.at(0).added.empty());
  CHECK(rows.at(1) == MetricsRow{.step = 2, .loss = 1.5, .added = {{"load_balancing", 0.25}}});
  CHECK(rows.at(3).added.at("balance_2") == 1);
  MetricsWriter::resume(path, 2).write({.step = 3, .added = {{"balance_2", 7}}});
  CHECK(read_text(path) == wider + "1,2,,,,,,\n2,1.5,,,,,,,0.25\n3,,,,,,,,,7\n");
  CHECK_THROWS_WITH_AS(MetricsWriter::resume(path, 3).write({.step = 4, .added = {{"lr", 1}}}),
                       "a layer adds a loss lr, but metrics.csv has such a column", ConfigError);
}

TEST_CASE("metrics: a step once, and in order") {
  TempDir folder;
  MetricsWriter writer = MetricsWriter::resume(folder / "m.csv", 0);
  writer.write({.step = 5});
  CHECK_THROWS_WITH_AS(writer.write({.step = 5}), "metrics: expected a step after 5, got 5", Error);
}

TEST_CASE("metrics: resuming drops what came after the checkpoint") {
  TempDir folder;
  const fs::path path = folder / "m.csv";
  const std::string until_20 = columns + "1,3,,,,,,\n10,2.5,,,,,,\n20,2.25,,,,,,\n";
  write_file_atomically(path, until_20 + "30,2,,,,,,\n40,1.7");
  {
    MetricsWriter writer = MetricsWriter::resume(path, 25);
    CHECK(read_text(path) == until_20);
    CHECK_THROWS_AS(writer.write({.step = 20}), Error);
    writer.write({.step = 30, .loss = 2.125});
  }
  CHECK(read_text(path) == until_20 + "30,2.125,,,,,,\n");
  MetricsWriter::resume(path, 20);
  CHECK(read_text(path) == until_20);
  MetricsWriter::resume(path, 0).write({.step = 1});
  CHECK(read_text(path) == columns + "1,,,,,,,\n");

  MetricsWriter::resume(folder / "new.csv", 20).write({.step = 21});
  CHECK(read_text(folder / "new.csv") == columns + "21,,,,,,,\n");
  write_file_atomically(path, "");
  MetricsWriter::resume(path, 5);
  CHECK(read_text(path) == columns);
  const std::string more = columns.substr(0, columns.size() - 1) + ",mine\n1,,,,,,,,7\n";
  write_file_atomically(path, more + "2,,,,,,,,8\n");
  MetricsWriter::resume(path, 1);
  CHECK(read_text(path) == more);
}

TEST_CASE("metrics: a damaged row behind the checkpoint does not block, one before it is named") {
  TempDir folder;
  const fs::path path = folder / "m.csv";
  const std::string until_20 = columns + "10,2.5,,,,,,\n20,2.25,,,,,,\n";
  const std::string damage = ": expected at least 8 numbers between commas";
  std::vector<std::string> warnings;
  for (const char* rest :
       {"garbage\n", "garbage\n30,2,,,,,,\n", "30,2,,,,,,\n3\xFF,,\n40,1,,,,,,\n"}) {
    write_file_atomically(path, until_20 + rest);
    warnings.clear();
    CHECK(read_metrics_until(path, 20, warnings).size() == 2);
    const int line = rest[0] == 'g' ? 4 : 5;
    CHECK(warnings ==
          std::vector<std::string>{text(path.string(), ":", line, damage, "; left out")});
    MetricsWriter::resume(path, 20);
    CHECK(read_text(path) == until_20);
  }
  write_file_atomically(path, columns + "10,2.5,,,,,,\ngarbage\n20,2.25,,,,,,\n");
  const std::string before = text(path.string(), ":3", damage);
  const std::string refused = before + "; delete this line to go on without it";
  CHECK_THROWS_WITH_AS(read_metrics_until(path, 20, warnings), refused.c_str(), IoError);
  CHECK_THROWS_WITH_AS(MetricsWriter::resume(path, 20), refused.c_str(), IoError);
  warnings.clear();
  CHECK(read_metrics(path, &warnings).size() == 2);
  CHECK(warnings == std::vector<std::string>{before + "; left out"});
  CHECK(read_metrics_until(folder / "none.csv", 20, warnings).empty());
}

TEST_CASE("metrics: damage is named with its line") {
  TempDir folder;
  const fs::path path = folder / "m.csv";
  const auto said = [&] {
    return message_of<IoError>([&] { read_metrics(path); }).substr(path.string().size());
  };
  CHECK(check_broken("metrics.txt", [&](const BrokenFile& broken) {
          write_file_atomically(path, broken.content);
          return said();
        }) == 7);
  fs::remove(path);
  CHECK(said() == ": cannot open: No such file or directory");
}

TEST_CASE("metrics: a full disk leaves whole rows") {
  TempDir folder;
  const fs::path path = folder / "m.csv";
  MetricsWriter writer = MetricsWriter::resume(path, 0);
  writer.write({.step = 1});
  const std::string before = read_text(path);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit unlimited{};
  ::getrlimit(RLIMIT_FSIZE, &unlimited);
  rlimit limit = unlimited;
  limit.rlim_cur = before.size() + 3;
  ::setrlimit(RLIMIT_FSIZE, &limit);
  CHECK_THROWS_AS(writer.write({.step = 2, .loss = 1.5}), IoError);
  ::setrlimit(RLIMIT_FSIZE, &unlimited);
  ::signal(SIGXFSZ, handler);
  CHECK(read_text(path) == before);
  writer.write({.step = 3});
  CHECK(read_text(path) == before + "3,,,,,,,\n");
}
