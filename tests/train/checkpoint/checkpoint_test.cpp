#include "train/checkpoint/checkpoint.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "autograd/random/streams.h"
#include "tests/support/small_training.h"
#include "tests/support/temp_dir.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("checkpoint: everything comes back bit for bit") {
  TempDir run;
  Training written(1), read(2, 0);
  const fs::path folder = written.save(run.path());
  CHECK(folder == run / "checkpoints" / "step-000500");
  CHECK(names_in(folder) == all_files);
  REQUIRE(weights_of(read.model) != weights_of(written.model));
  const TrainingState state = load_checkpoint(folder, read.model, &read.optimizer);
  CHECK(state == written.state);
  CHECK(state.streams.data.cached_normal.has_value());
  CHECK(weights_of(read.model) == weights_of(written.model));
  CHECK(moments_of(read.optimizer) == moments_of(written.optimizer));

  const Manifest manifest = read_manifest(folder);
  CHECK(read_file(config_of_checkpoint(folder), any_size) == "seed: 1\n");
  CHECK(manifest.precision == precision_name);
  CHECK(manifest.version == HEED_VERSION);
  CHECK(manifest.files.size() == 4);
}

TEST_CASE("checkpoint: the same state is the same bytes, and the state is readable") {
  TempDir first, second;
  Training training(1);
  const fs::path a = training.save(first.path()), b = training.save(second.path());
  int compared = 0;
  for (const std::string& name : all_files) {
    CHECK(read_file(a / name, any_size) == read_file(b / name, any_size));
    ++compared;
  }
  CHECK(compared == 5);
  CHECK(SafeTensors(a / "state.safetensors").metadata().at("state") ==
        "{\"step\":500,\"tokens\":12345679401,\"best_val_loss\":0.3333333333333333,"
        "\"best_step\":400,\"evaluations_since_best\":1,\"sample_bytes\":77,"
        "\"generators\":\"separate\",\"dropout_stream\":\"mcg31\"}");
  CHECK(read_manifest(a).seconds == 12.5);
  const SafeTensors moments(a / "optimizer.safetensors");
  CHECK(moments.tensors().size() == 7);
  CHECK(moments.at("step").shape.empty());
  CHECK(moments.integers("step") == std::vector<int64_t>{500});
  CHECK(moments.at("exp_avg_sq.W_key.weight").shape == std::vector<int64_t>{2, 3});
}

TEST_CASE("checkpoint: retention removes a link, never what it points to") {
  TempDir run, archive;
  Training training(1);
  const auto save = [&](int64_t step, int64_t keep) {
    training.at(step);
    training.save(run.path(), keep);
  };
  save(10, 9);
  const fs::path moved = archive / "step-000010", link = run / "checkpoints/step-000010";
  fs::copy(link, moved);
  fs::remove_all(link);
  fs::create_directory_symlink(moved, link);
  save(20, 9);
  CHECK(fs::is_symlink(link));  // it counts as one that is kept
  save(30, 2);
  CHECK(!fs::exists(fs::symlink_status(link)));
  CHECK(names_in(moved) == all_files);
  CHECK(config_of_checkpoint(moved) == moved / "config.yaml");

  fs::create_directory_symlink(archive.path(), run / "checkpoints/step-000040");
  prune_checkpoints(run.path(), 30, {.newest = 2});  // going back to 30
  CHECK(!fs::exists(fs::symlink_status(run / "checkpoints/step-000040")));
  CHECK(names_in(moved) == all_files);
}

TEST_CASE("checkpoint: `checkpoints` and `best` do not lead out of the run") {
  TempDir run, other;
  Training training(1);
  const fs::path theirs = training.save(other.path());
  fs::create_directory_symlink(other / "checkpoints", run / "checkpoints");
  const auto is_link = doctest::Contains("/checkpoints: is a symbolic link");
  CHECK_THROWS_WITH_AS(training.save(run.path()), is_link, IoError);
  CHECK_THROWS_WITH_AS(prune_checkpoints(run.path(), 500, {}), is_link, IoError);
  CHECK(names_in(theirs) == all_files);
  std::vector<std::string> warnings;
  CHECK(resolve_run(run.path(), warnings).run == run.path());  // reading changes nothing

  fs::remove(run / "checkpoints");
  training.save(run.path());
  fs::create_directory_symlink(theirs, run / "checkpoints/best");
  CHECK_THROWS_WITH_AS(resolve_run(run / "checkpoints/best", warnings),
                       doctest::Contains("/best: expected a link to a step-* beside it"), IoError);
}

TEST_CASE("checkpoint: the other choices of a state") {
  TempDir run;
  Training training(1);
  manual_seed(5, Generators::single, DropoutStream::mt19937);
  training.state = {.step = 7, .streams = streams().state()};
  training.optimizer.set_steps(7);
  const fs::path folder = training.save(run.path());
  CHECK(load_checkpoint(folder, training.model, &training.optimizer) == training.state);
  manual_seed(5);
}

TEST_CASE("checkpoint: weights alone") {
  TempDir run;
  Training written(1), read(2);
  const fs::path folder =
      save_checkpoint(run.path(), written.model, nullptr, written.state, {{"config.yaml", ""}}, {});
  CHECK(!fs::exists(folder / "optimizer.safetensors"));
  CHECK(refusal(folder) ==
        ": holds no optimizer state to continue with (checkpoint.optimizer_state was false)");
  CHECK(load_checkpoint(folder, read.model, nullptr) == written.state);
  CHECK(weights_of(read.model) == weights_of(written.model));
}

TEST_CASE("checkpoint: the newest good one is found, damaged ones are named") {
  TempDir run;
  Training training(1);
  std::vector<std::string> warnings;
  const auto newest = [&] { return newest_good_checkpoint(run.path(), warnings).filename(); };
  CHECK(io_error(newest) ==
        run.path().string() + ": no checkpoint yet: expected a folder checkpoints/step-*");
  for (const int64_t step : {100, 200, 1000000}) {
    training.at(step);
    training.save(run.path(), 10);
  }
  fs::create_directory(run / "checkpoints/step-9999999");
  fs::create_directory(run / "checkpoints/step-9");
  fs::create_directory(run / "checkpoints/.heed-tmp-1-0");
  fs::remove(run / "checkpoints/step-9999999");
  CHECK(newest() == "step-1000000");
  CHECK(warnings.empty());

  const fs::path damaged = run / "checkpoints/step-1000000/optimizer.safetensors";
  truncate(damaged);
  CHECK(newest() == "step-000200");
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].starts_with(damaged.string() + ": damaged: expected "));
  CHECK(warnings[0].ends_with("; using step-000200"));

  fs::remove(run / "checkpoints/step-000200/manifest.json");
  flip(run / "checkpoints/step-000100/model.safetensors", 250);
  const std::string message = io_error(newest);
  CHECK(message.starts_with(damaged.string() + ": damaged: "));
  CHECK(message.ends_with("; " + run.path().string() + " has no checkpoint that is whole"));
}

TEST_CASE("checkpoint: pruning keeps what it must") {
  TempDir run;
  Training training(1);
  const auto left = [&] { return names_in(run / "checkpoints"); };
  const auto save = [&](int64_t step, int64_t keep) {
    training.at(step);
    training.save(run.path(), keep);
  };
  using Names = std::vector<std::string>;
  for (const int64_t step : {10, 20, 30, 40}) {
    save(step, 2);
  }
  CHECK(left() == Names{"step-000030", "step-000040"});

  fs::create_directories(run / "checkpoints/best");
  fs::create_directories(run / "checkpoints/step-mine");
  save(50, 3);
  CHECK(left() == Names{"best", "step-000030", "step-000040", "step-000050", "step-mine"});

  // Damaged checkpoints do not count. Those of later steps are removed, as after resuming.
  fs::remove(run / "checkpoints/step-000040/manifest.json");
  fs::create_directories(run / "checkpoints/step-000070");
  save(60, 2);
  CHECK(left() == Names{"best", "step-000050", "step-000060", "step-mine"});

  // Nothing is removed while the newest one is damaged.
  save(80, 9);
  flip(run / "checkpoints/step-000080/model.safetensors", 250);
  prune_checkpoints(run.path(), 80, {1});
  CHECK(left() == Names{"best", "step-000050", "step-000060", "step-000080", "step-mine"});
  save(80, 1);
  CHECK(left() == Names{"best", "step-000080", "step-mine"});
}

TEST_CASE("checkpoint: what other processes left half written goes") {
  TempDir run;
  Training training(1);
  fs::create_directories(run / "checkpoints/.heed-tmp-999999999-0");
  write_file_atomically(run / "checkpoints/.heed-tmp-999999999-0/model.safetensors", "half");
  training.save(run.path());
  CHECK(names_in(run / "checkpoints") == std::vector<std::string>{"step-000500"});
}

TEST_CASE("checkpoint: a RUN is a folder or one of its checkpoints") {
  TempDir run;
  write_file_atomically(run / "config.yaml", "seed: 1\n");
  Training training(1);
  std::vector<std::string> warnings;
  training.at(100);
  training.save(run.path());
  training.at(200);
  training.save(run.path());
  const RunArgument newest = resolve_run(run.path(), warnings);
  CHECK(newest.run == run.path());
  CHECK(newest.checkpoint == run / "checkpoints/step-000200");
  CHECK(resolve_run(run.path() / "", warnings).checkpoint == newest.checkpoint);
  const fs::path one = run / "checkpoints/step-000100";
  CHECK(resolve_run(one, warnings).checkpoint == one);
  CHECK(resolve_run(one / "", warnings).run == run.path());
  const fs::path here = fs::current_path();
  fs::current_path(one);
  CHECK(resolve_run(".", warnings).run == run.path());
  fs::current_path(here);
  CHECK(io_error([&] { resolve_run(run / "none", warnings); }) ==
        (run / "none").string() +
            ": expected a run folder, or checkpoints/step-* in one: No such file or directory");
  CHECK(warnings.empty());
}

TEST_CASE("checkpoint: a run may have the name of a checkpoint, a checkpoint any place") {
  TempDir folder;
  Training training(1);
  std::vector<std::string> warnings;
  const fs::path run = folder / "step-000007";
  fs::create_directory(run);
  write_file_atomically(run / "config.yaml", "seed: 1\n");
  CHECK(never_saved(run));
  const fs::path one = training.save(run);
  CHECK(!never_saved(run));
  const RunArgument named = resolve_run(run, warnings);
  CHECK(named.run == run);
  CHECK(named.checkpoint == one);
  CHECK(parse_run(run).checkpoint.empty());

  // Its config.yaml is its own, even where the grandparent folder has one.
  write_file_atomically(folder / "config.yaml", "seed: 2\n");
  fs::create_directory(folder / "models");
  for (const char* name : {"models/mine", "models/step-000500"}) {
    fs::copy(one, folder / name, fs::copy_options::recursive);
    const RunArgument copy = resolve_run(folder / name, warnings);
    CHECK(copy.is_copy());
    CHECK(copy.run == folder / name);
  }
  fs::remove(one / "manifest.json");  // damaged, and still a checkpoint of its run
  CHECK(parse_run(one).run == run);
  CHECK(parse_run(one).checkpoint == one);
  CHECK(warnings.empty());
}

TEST_CASE("checkpoint: what going back removes is named") {
  TempDir run;
  Training training(1);
  const auto save = [&](int64_t step) {
    training.at(step);
    training.save(run.path());
  };
  save(10);
  save(20);
  CHECK(going_back(run.path(), 20).empty());
  CHECK(going_back(run.path(), 10) ==
        "going back to step 10: removes step-000020, and the rows and samples after step 10");
  save(30);
  CHECK(going_back(run.path(), 10) ==
        "going back to step 10: removes step-000020 to step-000030, 2 checkpoints, and the rows "
        "and samples after step 10");
}

TEST_CASE("checkpoint: the newest one is found while others are saved and pruned") {
  TempDir run;
  Training training(1);
  training.at(1);
  training.save(run.path(), 1);
  std::atomic<bool> done = false;
  std::thread saver([&] {
    for (int64_t step = 2; step <= 150; ++step) {
      training.at(step);
      training.save(run.path(), 1);
    }
    done = true;
  });
  std::vector<std::string> warnings, errors;
  while (!done) {
    errors.push_back(io_error([&] { newest_good_checkpoint(run.path(), warnings); }));
  }
  saver.join();
  for (const std::string& error : errors) CHECK(error == "");
  CHECK(warnings.empty());
  CHECK(newest_good_checkpoint(run.path(), warnings) == run / "checkpoints/step-000150");
}

TEST_CASE("checkpoint: a run folder that is gone") {
  TempDir run;
  Training training(1);
  CHECK(io_error([&] { training.save(run / "gone"); }) ==
        (run / "gone/checkpoints").string() +
            ": cannot make the folder: No such file or directory");
}

TEST_CASE("checkpoint: the best one stays, and `best` names it") {
  TempDir run;
  write_file_atomically(run / "config.yaml", "seed: 1\n");
  Training training(1);
  using Names = std::vector<std::string>;
  const auto save = [&](int64_t step, std::optional<int64_t> best) {
    training.at(step);
    training.save(run.path(), 1, best);
    return names_in(run / "checkpoints");
  };
  CHECK(save(10, {}) == Names{"step-000010"});
  CHECK(save(20, 20) == Names{"best", "step-000020"});
  CHECK(save(30, 20) == Names{"best", "step-000020", "step-000030"});
  CHECK(save(40, 20) == Names{"best", "step-000020", "step-000040"});
  std::vector<std::string> warnings;
  const RunArgument best = resolve_run(run / "checkpoints/best", warnings);
  CHECK(best.run == run.path());
  CHECK(best.checkpoint == run / "checkpoints/step-000020");
  CHECK(save(50, 50) == Names{"best", "step-000050"});
  CHECK(fs::read_symlink(run / "checkpoints/best") == "step-000050");

  // A damaged best one is removed, and so is the link to it.
  truncate(run / "checkpoints/step-000050/model.safetensors");
  CHECK(save(60, 50) == Names{"step-000060"});
  CHECK(save(70, 70) == Names{"best", "step-000070"});
  CHECK(save(80, {}) == Names{"step-000080"});
}

TEST_CASE("checkpoint: a run that ended before its first one") {
  TempDir run;
  CHECK(!never_saved(run.path()));
  write_file_atomically(run / "config.yaml", "seed: 1\n");
  CHECK(never_saved(run.path()));
  Training training(1);
  const fs::path folder = training.save(run.path());
  CHECK(!never_saved(run.path()));
  CHECK(!never_saved(folder));
  fs::remove(folder / "manifest.json");
  CHECK(!never_saved(run.path()));
  CHECK(!never_saved(folder));
}
