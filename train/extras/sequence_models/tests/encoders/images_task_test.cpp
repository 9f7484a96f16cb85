#include "train/extras/sequence_models/images_task.h"

#include "tests/support/broken_files.h"
#include "tests/support/near.h"
#include "tests/support/source_tree.h"
#include "tests/support/task_errors.h"
#include "tools/extras/checks/train/testing.h"
#include "train/files/files.h"
#include "train/files/safetensors.h"
#include "train/yaml/yaml.h"

using namespace heed;
using namespace heed::testing;

namespace {

// Bytes 0, 1, 2, ... of this shape.
TensorView bytes_view(const std::vector<int64_t>& shape, std::vector<uint8_t>& bytes) {
  int64_t size = 1;
  for (const int64_t extent : shape) size *= extent;
  bytes.resize(static_cast<size_t>(size));
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  return {"images", Dtype::U8, shape, std::as_bytes(std::span(bytes))};
}

Ids labels_below(int64_t count, int32_t below) {
  Ids labels = Ids::uninitialised({count});
  for (int64_t i = 0; i < count; ++i) {
    labels.mutable_data()[i] = static_cast<int32_t>(i) % below;
  }
  return labels;
}

// The bytes of an IDX file with these extents and as many bytes as they say, 0, 1, 2, ...
std::string idx(const std::vector<uint32_t>& extents) {
  std::string bytes{'\0', '\0', '\x08', static_cast<char>(extents.size())};
  uint32_t size = 1;
  for (const uint32_t extent : extents) {
    for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(extent >> shift & 0xFF);
    size *= extent;
  }
  for (uint32_t i = 0; i < size; ++i) bytes += static_cast<char>(i % 250);
  return bytes;
}

struct ImageFiles {
  void safetensors(const std::vector<TensorView>& tensors, const char* name = "a.safetensors") {
    write_safetensors(folder / name, tensors);
  }
  void write(const std::string& name, const std::string& content) {
    write_file_atomically(folder / name, content);
  }
  std::unique_ptr<Task> task(const std::string& options = "path: a.safetensors",
                             int64_t batch_size = 0) const {
    const TaskSetup setup{.config_folder = folder.path(), .batch_size = batch_size};
    return task_registry().make("images", parse_config("{" + options + "}", "i.yaml"), setup);
  }
  std::string error(const std::string& options = "path: a.safetensors",
                    int64_t batch_size = 0) const {
    return task_error(folder, [&] { task(options, batch_size); });
  }
  TempDir folder;
  std::vector<uint8_t> bytes;
};

std::string refused_images(const std::vector<TensorView>& tensors) {
  ImageFiles files;
  files.safetensors(tensors);
  return files.error();
}

const std::string mnist = "path: train-images-idx3-ubyte";

std::string refused_idx(const std::string& images, const std::string& labels) {
  ImageFiles files;
  files.write("train-images-idx3-ubyte", images);
  if (!labels.empty()) files.write("train-labels-idx1-ubyte", labels);
  return files.error(mnist);
}

}  // namespace

TEST_CASE("images: bytes become numbers from 0 to 1, the last part is held out") {
  ImageFiles files;
  files.safetensors({bytes_view({10, 2, 3}, files.bytes), view("labels", labels_below(10, 4))});
  const auto task = files.task("path: a.safetensors, train_fraction: 0.7");
  CHECK(task->model_sizes() ==
        ModelSizes{{"num_classes", 4}, {"channels", 1}, {"image_height", 2}, {"image_width", 3}});
  CHECK(task->data().example_count(Split::train) == 7);
  CHECK(task->data().example_count(Split::validation) == 3);
  const Batch last = task->data().examples(Split::validation, {2, 0});
  REQUIRE(last.input.x.shape() == Shape{2, 1, 2, 3});
  CHECK(last.input.x.value().data()[0] == doctest::Approx(54.0 / 255));
  CHECK(last.input.x.value().data()[6] == doctest::Approx(42.0 / 255));
  CHECK(std::ranges::equal(last.targets.span(), std::vector<int32_t>{1, 3}));
  CHECK(task->description() ==
        "a.safetensors: 7 pictures of 2 x 3, the last 3 held out, 4 classes");
  CHECK(task->target_name(3) == "3");
  CHECK(files.task("path: a.safetensors, classes: [a, b, c, d, e]")->target_name(3) == "d");
  CHECK(files.error("path: a.safetensors, classes: [a, b, c]") ==
        "classes: expected labels from 0 to 2, for which there are names, got 3");
  CHECK(files.error("path: a.safetensors", 10) ==
        "path: a.safetensors: expected at least train.batch_size 10 pictures to train on and one "
        "to validate with, got 9 and 1");
  // All of it, as for heed eval --data.
  const auto whole = files.task("path: a.safetensors, train_fraction: 1");
  CHECK(whole->data().example_count(Split::train) == 10);
  CHECK(whole->data().example_count(Split::validation) == 0);
  CHECK(files.error("path: a.safetensors, train_fraction: 1", 11) ==
        "path: a.safetensors: expected at least train.batch_size 11 pictures to train on, got 10 "
        "and 0");
}

TEST_CASE("images: colours, numbers, and a file of its own to validate with") {
  ImageFiles files;
  Array numbers = Array::full({4, 3, 2, 2}, real(0.25));
  numbers.mutable_data()[12] = -7;
  files.safetensors({view("images", numbers), view("labels", labels_below(4, 2))});
  files.safetensors({bytes_view({2, 3, 2, 2}, files.bytes), view("labels", Ids::from({2}, {0, 2}))},
                    "b.safetensors");
  const auto task = files.task("path: a.safetensors, validation: b.safetensors");
  CHECK(task->data().example_count(Split::train) == 4);
  CHECK(task->model_size("num_classes") == 3);
  CHECK(task->data().examples(Split::train, {1}).input.x.value().data()[0] == -7);
  CHECK(task->data().examples(Split::validation, {1}).input.x.value().data()[0] ==
        doctest::Approx(12.0 / 255));
  CHECK(task->files().size() == 2);
  files.safetensors({bytes_view({2, 3, 2, 1}, files.bytes), view("labels", labels_below(2, 3))},
                    "b.safetensors");
  CHECK(files.error("path: a.safetensors, validation: b.safetensors") ==
        "validation: expected pictures as in data.path, (N, C, H, W) = (4, 3, 2, 2), got (2, 3, 2, "
        "1)");
  CHECK(files.error("path: a.safetensors, validation: c.safetensors").substr(0, 27) ==
        "validation: c.safetensors: ");
}

TEST_CASE("images: batches are those of DataLoader") {
  ImageFiles files;
  files.safetensors({bytes_view({10, 1, 1}, files.bytes), view("labels", labels_below(10, 10))});
  const auto task = files.task();
  Generator data(3), same(3);
  const std::vector<int64_t> order = data_loader_order(data_loader_seed(same), 9);
  const Batch batch = task->data().next(4, data);
  for (size_t i = 0; i < 4; ++i) {
    CHECK(batch.targets.data()[i] == order[i]);
    CHECK(batch.input.x.value().data()[i] == doctest::Approx(static_cast<double>(order[i]) / 255));
  }
}

TEST_CASE("images: MNIST's files") {
  ImageFiles files;
  files.write("train-images-idx3-ubyte", idx({10, 4, 3}));
  files.write("train-labels-idx1-ubyte", idx({10}));
  files.write("t10k-images.idx3-ubyte", idx({2, 4, 3}));
  files.write("t10k-labels.idx1-ubyte", idx({2}));
  const auto task = files.task(mnist + ", validation: t10k-images.idx3-ubyte");
  CHECK(task->description() ==
        "train-images-idx3-ubyte: 10 pictures of 4 x 3, 2 of t10k-images.idx3-ubyte to validate "
        "with, 10 classes");
  const Batch batch = task->data().examples(Split::train, {9});
  CHECK(batch.targets.data()[0] == 9);
  CHECK(batch.input.x.value().data()[0] == doctest::Approx(108.0 / 255));
}

TEST_CASE("images: refused safetensors files") {
  std::vector<uint8_t> bytes;
  const TensorView images = bytes_view({4, 2, 2}, bytes),
                   labels = view("labels", labels_below(4, 2));
  CHECK(refused_images({images}).find("labels") != std::string::npos);
  CHECK(refused_images({images, labels, view("more", labels_below(4, 2))}) ==
        "a.safetensors: expected the tensors images and labels alone, got also \"more\"");
  CHECK(
      refused_images({images, view("labels", labels_below(3, 2))}) ==
      "a.safetensors: expected labels (4) of I64, I32 or U8, one for each of the images U8 (4, 2, "
      "2); got I32 (3,)");
  CHECK(refused_images({view("images", labels_below(4, 2)), labels})
            .find("expected images (N, H, W) or (N, C, H, W)") != std::string::npos);
  CHECK(refused_images({view("images", Array::zeros({4, 0, 2})), labels})
            .find("at least one on every axis; got F") != std::string::npos);
  Ids negative = labels_below(4, 2);
  negative.mutable_data()[2] = -1;
  CHECK(refused_images({images, view("labels", negative)}) ==
        "a.safetensors: expected labels from 0 on, got -1 as labels[2]");
  negative.mutable_data()[2] = 20'000;
  CHECK(refused_images({images, view("labels", negative)}) ==
        "classes: expected at most 10,000 classes, got the label 20,000");
  Array numbers = Array::zeros({4, 2, 2});
  numbers.mutable_data()[5] = std::nanf("");
  CHECK(refused_images({view("images", numbers), labels}) ==
        "a.safetensors: expected finite numbers in images, got another one in image 1");
  ImageFiles cut;
  cut.safetensors({images, labels});
  const std::string whole = read_file(cut.folder / "a.safetensors", 10'000);
  for (size_t size = 0; size < whole.size(); size += 7) {
    cut.write("a.safetensors", whole.substr(0, size));
    CHECK(cut.error().starts_with("a.safetensors: "));
  }
}

TEST_CASE("images: refused IDX files") {
  const std::string pictures = idx({4, 2, 2}), labels = idx({4});
  CHECK(refused_idx(pictures, "").starts_with("train-labels-idx1-ubyte: "));
  CHECK(refused_idx(pictures, idx({5})) ==
        "train-labels-idx1-ubyte: expected 4 labels, one for each picture of "
        "train-images-idx3-ubyte, got 5");
  CHECK(check_broken("idx.txt", [&](const BrokenFile& broken) {
          return refused_idx(broken.content, labels);
        }) == 7);
  for (size_t size = 0; size < pictures.size(); ++size) {
    CHECK(refused_idx(pictures.substr(0, size), labels).starts_with("train-images-idx3-ubyte: "));
  }
  for (size_t size = 0; size < labels.size(); ++size) {
    CHECK(refused_idx(pictures, labels.substr(0, size)).starts_with("train-labels-idx1-ubyte: "));
  }
  ImageFiles named;
  named.write("digits", pictures);
  CHECK(named.error("path: digits") ==
        "digits: expected *.safetensors, or a name with images and idx3 in it, such as "
        "train-images-idx3-ubyte, next to which the labels are, train-labels-idx1-ubyte");
}

TEST_CASE("images: what is counted for each class") {
  ImageFiles files;
  files.safetensors({bytes_view({10, 1, 1}, files.bytes), view("labels", labels_below(10, 2))});
  const auto task = files.task();
  Score score;
  task->score(Array::from({3, 2}, {1, 0, 1, 0, 0, 1}),
              task->data().examples(Split::train, {0, 1, 2}), score);
  CHECK(score.right == 1);
  CHECK(score.confusion == std::vector<std::vector<int64_t>>{{1, 1}, {1, 0}});
}

TEST_CASE("images: all that a task must satisfy, with the digits of configs") {
  const auto file = layout::root() / "train/extras/sequence_models/configs/digits.safetensors";
  check_task("{type: images, path: " + file.string() + "}");
}
