#include "tools/extras/own_data/train/vectors_task.h"

#include "autograd/random/fills.h"
#include "tests/support/near.h"
#include "tests/support/task_errors.h"
#include "tests/support/training_run.h"
#include "tools/extras/checks/train/examine_task.h"
#include "train/files/safetensors.h"

using namespace heed;
using namespace heed::testing;

namespace {

// Numbers 0, 1, 2, ... of this shape.
Array counted(const Shape& shape) {
  Array values = Array::uninitialised(shape);
  for (int64_t i = 0; i < values.size(); ++i) values.mutable_data()[i] = static_cast<real>(i);
  return values;
}

Ids counted_ids(const Shape& shape, int32_t below) {
  Ids ids = Ids::uninitialised(shape);
  for (int64_t i = 0; i < ids.size(); ++i) {
    ids.mutable_data()[i] = static_cast<int32_t>(i) % below;
  }
  return ids;
}

// A file in a folder of its own, and tasks that read it.
struct VectorFile {
  explicit VectorFile(const std::vector<TensorView>& tensors) {
    write_safetensors(folder / "v.safetensors", tensors);
  }
  std::unique_ptr<Task> task(const std::string& options = "") const {
    TaskSetup setup;
    setup.config_folder = folder.path();
    return task_registry().make(
        "vectors", parse_config("{path: v.safetensors" + options + "}", "v.yaml"), setup);
  }
  std::string error(const std::string& options = "") const {
    return task_error(folder, [&] { task(options); });
  }
  TempDir folder;
};

std::string refused(const std::vector<TensorView>& tensors, const std::string& options = "") {
  return VectorFile(tensors).error(options);
}

}  // namespace

TEST_CASE("vectors: numbers, sizes and examples") {
  const Array x = counted({10, 3, 4}), y = counted({10, 3, 2});
  const VectorFile file({view("x", x), view("y", y)});
  const auto task = file.task(", train_fraction: 0.8");
  CHECK(task->model_sizes() == ModelSizes{{"d_in", 4}, {"d_out", 2}, {"context_length", 3}});
  CHECK(task->output_size() == 0);
  CHECK(task->data().training_tokens() == 24);
  CHECK(task->description() == "v.safetensors: x (10, 3, 4), y (10, 3, 2); the last 2 held out");
  CHECK(task->data().example_count(Split::train) == 8);
  CHECK(task->data().example_count(Split::validation) == 2);
  const Batch last = task->data().examples(Split::validation, {1, 0});
  CHECK(last.input.x.shape() == Shape{2, 3, 4});
  CHECK(last.input.x.value().data()[0] == 9 * 12);
  CHECK(last.target_values.shape() == Shape{2, 3, 2});
  CHECK(last.target_values.data()[6] == 8 * 6);
  CHECK(error_of([&] { task->data().examples(Split::validation, {2}); }) ==
        "examples: expected numbers from 0 to 1, got 2");
  CHECK(file.task()->data().example_count(Split::validation) == 10);  // nothing is held out
  CHECK(file.task()->description() ==
        "v.safetensors: x (10, 3, 4), y (10, 3, 2); nothing is held "
        "out");
}

TEST_CASE("vectors: a target for each sequence, classes, and a width that is both") {
  const Array x = counted({6, 3, 4});
  const auto pooled = VectorFile({view("x", x), view("y", counted({6, 4}))}).task();
  CHECK(pooled->model_sizes().back() == std::pair<std::string, int64_t>{"d_model", 4});
  CHECK(pooled->data().examples(Split::train, {5}).target_values.shape() == Shape{1, 4});
  const VectorFile file({view("x", x), view("y", counted_ids({6, 3}, 5))});
  CHECK(file.task()->output_size() == 5);
  CHECK(file.task()->model_sizes()[1].second == 5);
  CHECK(file.task(", classes: 7")->output_size() == 7);
  CHECK(file.task()->description() ==
        "v.safetensors: x (6, 3, 4), y (6, 3) of 5 classes; nothing is held out");
  CHECK(file.task()->data().examples(Split::train, {1}).targets.data()[2] == 0);
  const auto one_each = VectorFile({view("x", x), view("y", counted_ids({6}, 2))}).task();
  CHECK(one_each->data().examples(Split::train, {0, 1}).targets.shape() == Shape{2});
}

TEST_CASE("vectors: all examples in their order, or batches as DataLoader has them") {
  const VectorFile file({view("x", counted({7, 1, 1})), view("y", counted({7, 1}))});
  const auto firsts = [](const Batch& batch) {
    const std::span<const real> x = batch.input.x.value().span();
    return std::vector<real>(x.begin(), x.end());
  };
  Generator data(3), untouched(3);
  for (const int64_t size : {7, 8, 1000}) {
    CHECK(firsts(file.task()->data().next(size, data)) == std::vector<real>{0, 1, 2, 3, 4, 5, 6});
  }
  CHECK(data.state() == untouched.state());
  const std::vector<int64_t> order = data_loader_order(data_loader_seed(untouched), 7);
  const auto task = file.task();
  for (size_t batch = 0; batch < 2; ++batch) {  // the seventh example of an epoch is dropped
    const std::vector<real> got = firsts(task->data().next(3, data));
    for (size_t i = 0; i < 3; ++i) CHECK(got[i] == static_cast<real>(order[3 * batch + i]));
  }
  const std::vector<int64_t> next = data_loader_order(data_loader_seed(untouched), 7);
  CHECK(firsts(task->data().next(3, data))[0] == static_cast<real>(next[0]));
  CHECK(firsts(file.task(", shuffle: false")->data().next(3, data)) == std::vector<real>{0, 1, 2});
  CHECK(error_of([&] {
          task->data().set_position({1, 8});
        }) == "data: expected a position in an epoch of 7 examples, got 2 numbers: 1 and 8");
}

TEST_CASE("vectors: what every task has to do") {
  const auto check = [](const Shape& x, TensorView y) {
    const VectorFile file({view("x", counted(x)), std::move(y)});
    const std::string path = (file.folder / "v.safetensors").string();
    for (const Finding& finding : examine_task("{type: vectors, path: " + path + "}")) {
      CHECK_MESSAGE(finding.message.empty(), finding.what, ": ", finding.message);
    }
  };
  check({1, 6, 3}, view("y", counted({1, 6, 2})));
  check({9, 2, 3}, view("y", counted({9, 4})));
  check({9, 2, 3}, view("y", counted_ids({9, 2}, 3)));
  check({9, 2, 3}, view("y", counted_ids({9}, 3)));
}

TEST_CASE("vectors: files that are refused, with their shapes") {
  const Array x = counted({6, 3, 4}), y = counted({6, 3, 2});
  const std::string real_name = is_float64 ? "F64" : "F32";
  CHECK(refused({view("x", x)}) ==
        "v.safetensors: no tensor \"y\" among its 1, did you mean "
        "\"x\"?");
  CHECK(refused({view("x", x), view("y", y), view("z", y)}) ==
        "v.safetensors: expected the tensors x and y alone, got also \"z\"");
  CHECK(refused({view("x", counted({6, 4})), view("y", y)}) ==
        "v.safetensors: expected x (N, T, d): numbers (F64, F32, F16 or BF16), at least one on "
        "every axis; got " +
            real_name + " (6, 4)");
  CHECK(contains(refused({view("x", counted({0, 3, 4})), view("y", y)}),
                 "got " + real_name + " (0, 3, 4)"));
  CHECK(
      contains(refused({view("x", counted_ids({6, 3, 4}, 5)), view("y", y)}), "got I32 (6, 3, 4)"));
  const auto wanted = [&](const std::string& got) {
    return "v.safetensors: expected y (6, 3, k) or (6, k) of numbers, or (6, 3) or (6) of classes "
           "(I64, I32 or U8), for x " +
           real_name + " (6, 3, 4); got " + got;
  };
  for (const Shape& shape : {Shape{5, 3, 2}, Shape{6, 4, 2}, Shape{6}, Shape{6, 3, 0}}) {
    std::string dims = text(shape);
    if (shape.rank() == 1) dims = "(6)";
    CHECK(refused({view("x", x), view("y", counted(shape))}) == wanted(real_name + " " + dims));
  }
  CHECK(refused({view("x", x), view("y", counted_ids({6, 4}, 3))}) == wanted("I32 (6, 4)"));
  CHECK(refused({view("x", x), view("y", counted_ids({6, 3, 1}, 3))}) == wanted("I32 (6, 3, 1)"));
  CHECK(refused({view("x", x), view("y", Mask::zeros({6, 3}))}) == wanted("BOOL (6, 3)"));
}

TEST_CASE("vectors: numbers and classes that are refused, with their place") {
  Array x = counted({6, 3, 4}), y = counted({6, 3, 2});
  x.mutable_data()[1 * 12 + 2 * 4 + 3] = not_a_number;
  CHECK(contains(refused({view("x", x), view("y", y)}), "expected finite numbers, got "));
  CHECK(refused({view("x", x), view("y", y)}).ends_with(" as x[1, 2, 3]"));
  y.mutable_data()[0] = inf;
  CHECK(refused({view("x", counted({6, 3, 4})), view("y", y)}) ==
        "v.safetensors: expected finite numbers, got inf as y[0, 0, 0]");
  std::vector<double> large(36, 1.0);
  large[7] = 1e300;
  const TensorView wide{"y", Dtype::F64, {6, 3, 2}, std::as_bytes(std::span(large))};
  CHECK(refused({view("x", counted({6, 3, 4})), wide}) ==
        (is_float64 ? "accepted"
                    : "v.safetensors: expected finite numbers of float32, up to 3.4e38 "
                      "(precision: float64 has more), got 1e+300 as y[1, 0, 1]"));
  Ids labels = counted_ids({6, 3}, 5);
  labels.mutable_data()[4] = ignored_target;
  const std::vector<TensorView> tensors{view("x", counted({6, 3, 4})), view("y", labels)};
  CHECK(refused(tensors) == "accepted");
  CHECK(refused(tensors, ", classes: 4") ==
        "v.safetensors: expected classes from 0 to 3, or -100 "
        "for a place that does not count; got 4 as y[3, 0]");
  labels.mutable_data()[4] = -1;
  CHECK(contains(refused({view("x", counted({6, 3, 4})), view("y", labels)}), "got -1 as y[1, 1]"));
  CHECK(contains(refused({view("x", counted({6, 3, 4})), view("y", Ids::full({6, 3}, -100))}),
                 "expected classes in y, got none"));
}

TEST_CASE("vectors: options that are refused") {
  const std::vector<TensorView> tensors{view("x", counted({6, 3, 4})), view("y", counted({6, 2}))};
  CHECK(refused(tensors, ", classes: 4") == "classes: has no effect: y of v.safetensors is " +
                                                text(is_float64 ? "F64" : "F32") +
                                                " (6, 2), numbers; leave it out");
  CHECK(refused(tensors, ", train_fraction: 0.1") ==
        "train_fraction: expected an example to train on and one to validate with, got 0 of 6 to "
        "train on; 1 trains on all");
  CHECK(contains(refused(tensors, ", fingerprint: 'xxh64:0:1'"),
                 "v.safetensors: changed: expected fingerprint xxh64:0:1, got xxh64:"));
}
