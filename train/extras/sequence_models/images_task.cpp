#include "train/extras/sequence_models/images_task.h"

#include <algorithm>
#include <set>

#include "autograd/base/modes.h"
#include "layers/config/values.h"
#include "train/data/data_file.h"
#include "train/files/human_readable.h"

namespace heed {

namespace {

constexpr int32_t most_labels = 10'000;

std::optional<Pictures> pictures_to_validate_with(const ImagesTask::Config& c,
                                                  const TaskSetup& setup) {
  if (c.validation.empty()) return {};
  return at_field<IoError, TaskFileError>("validation", [&] {
    return Pictures(setup.config_folder / c.validation, c.validation_fingerprint);
  });
}

int32_t last_label(const Pictures& of) {
  return *std::max_element(of.labels().begin(), of.labels().end());
}

}  // namespace

void ImagesTask::Config::fields(Fields& f) {
  f.required("path", path,
             "*.safetensors with images and labels, or a file of IDX, as MNIST's "
             "train-images-idx3-ubyte; relative to the config's folder");
  f.optional("validation", validation,
             "a file of its own to validate with, such as t10k-images-idx3-ubyte; all of path "
             "trains");
  f.optional("train_fraction", train_fraction, in_range(0, 1, Bound::open),
             "share of the pictures to train on, the first ones; the rest is for validation");
  f.optional("shuffle", shuffle, "pictures in a new order every epoch");
  f.optional("classes", classes, "names of the labels 0, 1, 2, ...; by default their numbers");
  f.optional("fingerprint", fingerprint, fingerprint_help);
  f.optional("validation_fingerprint", validation_fingerprint, "that of the other file");
}

ImagesTask::ImagesTask(const Config& c, const TaskSetup& setup) {
  class_names_ = c.classes;
  if (setup.data != TaskSetup::Data::absent) {
    read(c, setup);
    return;
  }
  const auto size = [&](const char* name) {
    return whole_number(setup.model.get(name)).value_or(1);
  };
  shape_ = Shape{1, size("channels"), size("image_height"), size("image_width")};
  for (int64_t label = std::ssize(class_names_); label < size("num_classes"); ++label) {
    class_names_.push_back(std::to_string(label));
  }
  data_ = std::make_unique<NoExamples>(shape_, /*numbers=*/true);
}

void ImagesTask::read(const Config& c, const TaskSetup& setup) {
  pictures_.emplace(setup.config_folder / c.path, c.fingerprint);
  validation_ = pictures_to_validate_with(c, setup);
  shape_ = pictures_->shape().with(0, 1);
  files_ = {setup.config_folder / c.path};
  int32_t last = last_label(*pictures_);
  if (validation_) {
    if (c.train_fraction != Config{}.train_fraction) {
      throw TaskError("train_fraction", "has no effect with data.validation; leave it out");
    }
    files_.push_back(setup.config_folder / c.validation);
    last = std::max(last, last_label(*validation_));
    if (validation_->shape().with(0, 1) != shape_) {
      throw TaskError("validation", text("expected pictures as in data.path, (N, C, H, W) = ",
                                         pictures_->shape(), ", got ", validation_->shape()));
    }
  }
  const auto share = static_cast<double>(pictures_->size()) * c.train_fraction;
  const int64_t count = validation_ ? pictures_->size() : static_cast<int64_t>(share);
  const int64_t held_out = validation_ ? validation_->size() : pictures_->size() - count;
  const int64_t least_held_out = c.train_fraction < 1 ? 1 : 0;
  if (count < std::max<int64_t>(1, setup.batch_size) || held_out < least_held_out) {
    throw TaskError("path", text(files_[0].string(), ": expected at least train.batch_size ",
                                 std::max<int64_t>(1, setup.batch_size), " pictures to train on",
                                 least_held_out > 0 ? " and one to validate with" : "", ", got ",
                                 count, " and ", held_out));
  }
  const auto names = static_cast<int32_t>(class_names_.size());
  const std::set<std::string> different(class_names_.begin(), class_names_.end());
  if (names > std::ssize(different) || std::max(names - 1, last) == 0) {
    throw TaskError("classes", "expected at least two classes, with different names");
  }
  if (names > 0 ? last >= names : last >= most_labels) {
    throw TaskError("classes", names > 0 ? text("expected labels from 0 to ", names - 1,
                                                ", for which there ", "are names, got ", last)
                                         : text("expected at most ", grouped(most_labels),
                                                " classes, got ", "the label ", grouped(last)));
  }
  for (int32_t label = 0; label <= last && names == 0; ++label) {
    class_names_.push_back(std::to_string(label));
  }
  warn(count);
  data_ = std::make_unique<FixedExamples>(
      FixedExamples::Counts{count, held_out}, c.shuffle,
      [this](Split split, const std::vector<int64_t>& which) { return batch_of(split, which); },
      /*training_tokens=*/count);
}

// The first `count` pictures are trained on.
void ImagesTask::warn(int64_t count) {
  const Shape& shape = pictures_->shape();
  if (shape[3] <= 4 && shape[1] > 4) {
    warnings_.push_back(
        text("expected images (N, C, H, W), got ", shape, ", whose last axis looks like channels"));
  }
  constexpr real least_of_bytes = 16;  // less are numbers over their mean and deviation
  for (const auto* of : {&pictures_, &validation_}) {
    if (*of && (*of)->largest() >= least_of_bytes) {
      warnings_.push_back(text("expected numbers of about 0 to 1 in images, got up to ",
                               (*of)->largest(), "; divide bytes by 255, or keep them as U8"));
    }
  }
  const std::vector<int32_t>& labels = pictures_->labels();
  const std::set<int32_t> trained(labels.begin(), labels.begin() + count);
  if (trained.size() < class_names_.size()) {
    warnings_.push_back(text(class_names_.size() - trained.size(), " of ", class_names_.size(),
                             " classes have no picture to train on; the lowest label is ",
                             *trained.begin()));
  }
  std::vector<int32_t> runs(labels);  // one of the labels that follow each other
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
  if (!validation_ && trained.size() > 1 && runs.size() <= class_names_.size()) {
    warnings_.push_back("the file is sorted by class, and its last pictures validate: shuffle it");
  }
  std::error_code error;
  if (validation_ && std::filesystem::equivalent(files_[0], files_[1], error)) {
    warnings_.push_back("data.validation is data.path: what validates is trained on");
  }
}

std::vector<std::pair<std::string, int64_t>> ImagesTask::model_sizes() const {
  return {{"num_classes", std::ssize(class_names_)},
          {"channels", shape_[1]},
          {"image_height", shape_[2]},
          {"image_width", shape_[3]}};
}

Batch ImagesTask::batch_of(Split split, const std::vector<int64_t>& which) const {
  const bool held_out = split == Split::validation, own_file = held_out && validation_;
  const Pictures& pictures = own_file ? *validation_ : *pictures_;
  const int64_t before = held_out && !own_file ? data().example_count(Split::train) : 0;
  std::vector<int64_t> numbers(which);
  for (int64_t& number : numbers) number += before;
  Batch batch{Input(Tensor(pictures.rows(numbers))), Ids::uninitialised({std::ssize(numbers)})};
  for (size_t i = 0; i < numbers.size() && !dry_run(); ++i) {
    batch.targets.mutable_data()[i] = pictures.labels()[static_cast<size_t>(numbers[i])];
  }
  return batch;
}

std::string ImagesTask::description() const {
  const std::string held_out = grouped(data().example_count(Split::validation));
  const std::string of =
      text(shape_[2], " x ", shape_[3], shape_[1] > 1 ? text(" in ", shape_[1], " channels") : "");
  if (!pictures_) return text("pictures of ", of, ", of which no file is at hand");
  return text(files_[0].filename().string(), ": ", grouped(data().example_count(Split::train)),
              " pictures of ", of, ", ",
              validation_
                  ? text(held_out, " of ", files_[1].filename().string(), " to validate with")
                  : text("the last ", held_out, " held out"),
              ", ", class_names_.size(), " classes");
}

}  // namespace heed
