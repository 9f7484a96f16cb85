#include "tools/extras/own_data/train/vectors_task.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "autograd/base/modes.h"
#include "layers/config/values.h"
#include "train/data/data_file.h"
#include "train/files/safetensors.h"

namespace heed {

namespace {

constexpr int64_t most_labels_of_file = int64_t{1} << 24;  // 16.8 million, as ids of other tasks

// The file in memory, and each byte of it as an id of four.
constexpr int64_t memory_per_byte = 5;

SafeTensors read_vectors(const VectorsTask::Config& c, const std::filesystem::path& path) {
  const FileReader file = open_data_file(path, memory_per_byte);
  std::string bytes = file.whole();
  require_fingerprint(path, fingerprint(as_bytes(bytes)), c.fingerprint);
  return {std::move(bytes), path.string()};
}

bool is_whole(const TensorInfo& info) {
  return info.dtype == Dtype::I64 || info.dtype == Dtype::I32 || info.dtype == Dtype::U8;
}

// "F32 (6, 3)"
std::string in_words(const TensorInfo& info) {
  std::string dims;
  for (const int64_t dim : info.shape) dims += (dims.empty() ? "" : ", ") + std::to_string(dim);
  return text(dtype_name(info.dtype), " (", dims, ")");
}

// Throws IoError unless the shapes and types of the two tensors, the only ones, go together.
void require_shapes(const SafeTensors& file) {
  const TensorInfo &x = file.at("x"), &y = file.at("y");
  for (const std::string& name : file.names()) {
    require<IoError>(name == "x" || name == "y", file.path(),
                     ": expected the tensors x and y alone, got also \"", name, "\"");
  }
  const auto empty = [](const TensorInfo& of) {
    return std::count(of.shape.begin(), of.shape.end(), 0) > 0;
  };
  require<IoError>(is_float(x.dtype) && x.shape.size() == 3 && !empty(x), file.path(),
                   ": expected x (N, T, d): numbers (F64, F32, F16 or BF16), at least one on every "
                   "axis; got ",
                   in_words(x));
  const size_t axes = y.shape.size();
  const bool right_axes = is_whole(y) ? axes == 1 || axes == 2 : axes == 2 || axes == 3;
  const bool a_place_each = axes == (is_whole(y) ? 2 : 3);  // (N, T, k), (N, T)
  const bool fits = y.dtype != Dtype::BOOL && right_axes && !empty(y) && y.shape[0] == x.shape[0] &&
                    (!a_place_each || y.shape[1] == x.shape[1]);
  require<IoError>(fits, file.path(), ": expected y (", x.shape[0], ", ", x.shape[1], ", k) or (",
                   x.shape[0], ", k) of numbers, or (", x.shape[0], ", ", x.shape[1], ") or (",
                   x.shape[0], ") of classes (I64, I32 or U8), for x ", in_words(x), "; got ",
                   in_words(y));
}

Array finite_numbers(const SafeTensors& file, const char* name) {
  Array values = file.array(name);
  const std::span<const real> all = std::as_const(values).span();
  const auto wrong = std::find_if(all.begin(), all.end(), [](real v) { return !std::isfinite(v); });
  if (wrong != all.end()) {
    const int64_t i = wrong - all.begin();
    fail<IoError>(file.path(), ": expected finite numbers, got ", *wrong, " as ",
                  element_name(name, values.shape(), i));
  }
  return values;
}

// The classes, with `count` 0: the largest plus 1.
Ids classes_below(const SafeTensors& file, int64_t& count) {
  Ids labels = file.ids("y");
  const std::span<const int32_t> all = std::as_const(labels).span();
  const int64_t largest = *std::max_element(all.begin(), all.end());
  require<IoError>(largest >= 0, file.path(), ": expected classes in y, got none: every one is ",
                   "negative, the largest ", largest);
  count = count == 0 ? largest + 1 : count;
  const auto wrong = std::find_if(all.begin(), all.end(), [&](int32_t label) {
    return label != ignored_target && (label < 0 || label >= count);
  });
  require<IoError>(wrong == all.end(), file.path(), ": expected classes from 0 to ", count - 1,
                   ", or ", ignored_target, " for a place that does not count; got ",
                   wrong == all.end() ? 0 : *wrong, " as ",
                   element_name("y", labels.shape(), wrong - all.begin()));
  return labels;
}

// The first of these sizes that a model or its first layer says; else 1.
int64_t size_in(const ConfigNode& model, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (const auto size = whole_number(model.get(name))) return *size;
  }
  const std::vector<ConfigNode>& layers = model.get("layers").children();
  return layers.empty() ? 1 : size_in(layers.front(), names);
}

// Rows `which` of an array with at least one axis.
template <class T>
BasicArray<T> rows_of(const BasicArray<T>& all, std::span<const int64_t> which) {
  Shape shape = all.shape();
  const int64_t row = all.size() / shape[0];
  shape = shape.with(0, static_cast<int64_t>(which.size()));
  BasicArray<T> rows = BasicArray<T>::uninitialised(shape);
  if (!dry_run()) {
    T* to = rows.mutable_data();
    for (const int64_t example : which) {
      to = std::copy_n(all.data() + example * row, row, to);
    }
  }
  return rows;
}

// Rows of x with those of y: numbers, or classes.
class VectorExamples final : public Dataset {
 public:
  VectorExamples(Array x, Array numbers, Ids labels, int64_t train_count, bool shuffle)
      : x_(std::move(x)),
        numbers_(std::move(numbers)),
        labels_(std::move(labels)),
        train_count_(train_count) {
    epochs_ = Epochs(train_count, shuffle);
  }

  // A batch_size of at least the number of training examples gives all of them, in the order of the
  // file. A smaller one draws them as DataLoader does.
  Batch next(int64_t batch_size, Generator& data) override {
    if (batch_size < train_count_) {
      return Dataset::next(batch_size, data);
    }
    std::vector<int64_t> all(static_cast<size_t>(train_count_));
    std::iota(all.begin(), all.end(), int64_t{0});
    return batch_of(all);
  }

  int64_t example_count(Split split) const override {
    return split == Split::train || !holds_out() ? train_count_ : x_.dim(0) - train_count_;
  }
  Batch examples(Split split, const std::vector<int64_t>& which) const override {
    require_examples(which, example_count(split));
    const int64_t before = split == Split::validation && holds_out() ? train_count_ : 0;
    std::vector<int64_t> numbers(which);
    for (int64_t& number : numbers) {
      number += before;
    }
    return batch_of(numbers);
  }
  int64_t training_tokens() const override { return train_count_ * x_.dim(1); }

 private:
  bool holds_out() const { return train_count_ < x_.dim(0); }
  Batch batch_of(std::span<const int64_t> which) const {
    Batch batch{Input(Tensor(rows_of(x_, which))), {}};
    if (labels_) {
      batch.targets = rows_of(labels_, which);
    } else {
      batch.target_values = rows_of(numbers_, which);
    }
    return batch;
  }

  const Array x_, numbers_;
  const Ids labels_;
  const int64_t train_count_;
};

}  // namespace

void VectorsTask::Config::fields(Fields& f) {
  f.required("path", path,
             "safetensors file with x (N, T, d) and y, relative to the config's "
             "folder");
  f.optional("train_fraction", train_fraction, in_range(0, 1, Bound::open),
             "share of the examples to train on, the first ones; the rest is for validation; 1: "
             "all, and validation is over these");
  f.optional("shuffle", shuffle,
             "batches in a new order every epoch; a batch_size of all examples keeps theirs");
  f.optional("classes", classes, in_range(1, most_labels_of_file),
             "how many there are, if y is whole; as_in_y: the largest plus 1", "as_in_y");
  f.optional("fingerprint", fingerprint, fingerprint_help);
}

VectorsTask::VectorsTask(const Config& c, const TaskSetup& setup)
    : path_(setup.config_folder / c.path) {
  if (setup.data == TaskSetup::Data::absent) {
    data_ = std::make_unique<NoExamples>(Shape{1, size_in(setup.model, {"context_length"}),
                                               size_in(setup.model, {"d_in", "d_model"})},
                                         /*numbers=*/true);
    return;
  }
  files_ = {path_};
  const SafeTensors file = read_vectors(c, path_);
  require_shapes(file);
  x_ = finite_numbers(file, "x");
  if (is_whole(file.at("y"))) {
    classes_ = c.classes.value_or(0);
    labels_ = classes_below(file, classes_);
  } else {
    numbers_ = finite_numbers(file, "y");
    if (c.classes) {
      throw TaskError("classes", text("has no effect: y of ", path_.string(), " is ",
                                      in_words(file.at("y")), ", numbers; leave it out"));
    }
  }
  const int64_t count = x_.dim(0);
  const auto trained_on = static_cast<int64_t>(c.train_fraction * static_cast<double>(count));
  if (trained_on == 0 || (c.train_fraction < 1 && trained_on == count)) {
    throw TaskError("train_fraction",
                    text("expected an example to train on and one to validate ", "with, got ",
                         trained_on, " of ", count, " to train on; 1 trains on all"));
  }
  data_ = std::make_unique<VectorExamples>(x_, numbers_, labels_, trained_on, c.shuffle);
}

ModelSizes VectorsTask::model_sizes() const {
  if (!x_) return {};
  const int64_t d_in = x_.dim(-1), d_out = labels_ ? classes_ : numbers_.dim(-1);
  ModelSizes sizes{{"d_in", d_in}, {"d_out", d_out}, {"context_length", x_.dim(1)}};
  if (d_in == d_out) {
    sizes.emplace_back("d_model", d_in);
  }
  return sizes;
}

BatchLoss VectorsTask::loss(const Tensor& output, const Batch& batch) const {
  Batch with = batch;
  if (!x_) with.target_values = Array::uninitialised(output.shape());
  return Task::loss(output, with);
}

std::string VectorsTask::description() const {
  if (!x_) return "vectors, of which no file is at hand";
  const Shape& y = labels_ ? labels_.shape() : numbers_.shape();
  const int64_t held_out = x_.dim(0) - data().example_count(Split::train);
  return text(path_.filename().string(), ": x ", x_.shape(), ", y ", y,
              labels_ ? text(" of ", classes_, " classes") : "", "; ",
              held_out > 0 ? text("the last ", held_out, " held out") : "nothing is held out");
}

}  // namespace heed
