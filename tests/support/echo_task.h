// A task without ids and with a loss of its own: a model of x (B, width) has to give x back.
//   loss = sum over the batch of |y - x|^2, counted by row
#pragma once

#include "autograd/op.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/sum.h"
#include "train/data/task.h"

namespace heed::testing {

// Rows of random numbers: ten of each split, those of training without end.
class NormalRows final : public Dataset {
 public:
  NormalRows(int64_t width, uint64_t seed) : width_(width), seed_(seed) {}

  Batch next(int64_t batch_size, Generator& data) override { return rows(batch_size, data); }
  int64_t example_count(Split) const override { return 10; }
  Batch examples(Split split, const std::vector<int64_t>& which) const override {
    Array x = Array::uninitialised({static_cast<int64_t>(which.size()), width_});
    for (size_t i = 0; i < which.size(); ++i) {
      Generator data(seed_ + 2 * static_cast<uint64_t>(which[i]) + (split == Split::train ? 0 : 1));
      const Batch row = rows(1, data);
      std::copy_n(row.input.x.value().data(), width_,
                  x.mutable_data() + static_cast<int64_t>(i) * width_);
    }
    return {Input(Tensor(std::move(x))), {}};
  }

 private:
  Batch rows(int64_t count, Generator& data) const {
    Array x = Array::uninitialised({count, width_});
    if (!dry_run()) {
      fill_normal(data, {x.mutable_data(), static_cast<size_t>(x.size())});
    }
    return {Input(Tensor(std::move(x))), {}};
  }

  const int64_t width_;
  const uint64_t seed_;
};

class EchoTask final : public Task {
 public:
  static constexpr const char* help = "rows of numbers that a model gives back";
  struct Config {
    int64_t width = 4;
    void fields(Fields& f) { f.optional("width", width, at_least(1), "numbers of a row"); }
  };
  EchoTask(const Config& c, const TaskSetup& setup) {
    data_ = std::make_unique<NormalRows>(c.width, setup.seed);
  }

  ModelSizes model_sizes() const override { return {}; }
  std::string description() const override { return "rows to give back"; }
  BatchLoss loss(const Tensor& output, const Batch& batch) const override {
    const Tensor difference = output - batch.input.x;
    return {sum(difference * difference), batch.input.x.dim(0)};
  }
};

// Makes it known to configs as {type: echo}.
inline void register_echo_task() {
  static const bool once = [] {
    task_registry().add<EchoTask>("echo");
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace heed::testing
