// A minimal example of each kind that a plugin can add.
#pragma once

#include "layers/linear.h"
#include "layers/module/init.h"
#include "train/data/task.h"
#include "train/optim/optimizer.h"
#include "train/optim/schedule.h"

namespace heed::testing {

// y = x + x W^T.    x (.., d_in) -> y (.., d_in)
class PluginLayer final : public Module {
 public:
  static constexpr const char* help = "a layer from the test plugin";
  struct Config {
    int64_t d_in = 0;
    void fields(Fields& f) { f.required("d_in", d_in, at_least(1), "width of x").example(4); }
  };
  explicit PluginLayer(const Config& c)
      : inner(this, "inner", Linear::Config{c.d_in, checked(c).d_in, false}) {}
  Signature signature() const override { return Signature::of_tokens(inner->config.d_in); }

  Child<Linear> inner;

 protected:
  Tensor forward(const Input& in) override { return in.x + inner(in); }
};

// y = x, with a parameter that nothing uses.
class PluginUnused final : public Module {
 public:
  static constexpr const char* help = "a layer whose parameter is not used";
  struct Config {
    int64_t d_in = 0;
    void fields(Fields& f) { f.required("d_in", d_in, at_least(1), "width of x").example(4); }
  };
  explicit PluginUnused(const Config& c) : scale(this, "scale", {c.d_in}, init::ones) {}
  Signature signature() const override { return Signature::of_tokens(0); }

  Parameter scale;

 protected:
  Tensor forward(const Input& in) override { return in.x; }
};

// 0 1 2 ... 6 repeated; the target is the next number.
class Counting final : public Dataset {
 public:
  Batch next(int64_t batch_size, Generator&) override { return counting(batch_size); }
  int64_t example_count(Split) const override { return 7; }
  Batch examples(Split, const std::vector<int64_t>& which) const override {
    return counting(static_cast<int64_t>(which.size()));
  }
  int64_t training_tokens() const override { return 42; }

 private:
  static Batch counting(int64_t count) {
    Batch batch{Input(Ids::zeros({count, 6})), Ids::zeros({count, 6})};
    for (int64_t i = 0; i < count * 6; ++i) {
      batch.input.ids.mutable_data()[i] = static_cast<int32_t>((i + i / 6) % 7);
      batch.targets.mutable_data()[i] = static_cast<int32_t>((i + i / 6 + 1) % 7);
    }
    return batch;
  }
};

class PluginTask final : public Task {
 public:
  static constexpr const char* help = "a task from the test plugin";
  using Config = NoFields;
  PluginTask(const Config&, const TaskSetup&) { data_ = std::make_unique<Counting>(); }

  ModelSizes model_sizes() const override { return {{"vocab_size", 7}, {"context_length", 6}}; }
  std::string description() const override { return "counting"; }
};

// p <- p - step_size g. Its rate has a name of its own.
class PluginOptimizer final : public Optimizer {
 public:
  static constexpr const char* help = "an optimizer from the test plugin";
  struct Config {
    double step_size = 0.1;
    void fields(Fields& f) { f.optional("step_size", step_size, at_least(0), "learning rate"); }
  };
  PluginOptimizer(const Config& c, std::vector<NamedParameter> parameters)
      : Optimizer(std::move(parameters), c.step_size) {}
  std::vector<std::pair<std::string, std::vector<Array>*>> state() override { return {}; }

 protected:
  void update(size_t, Tensor& parameter, const Array& g, double lr, double scale) override {
    real* p = parameter.mutable_value();
    for (int64_t i = 0; i < g.size(); ++i) p[i] -= static_cast<real>(lr * scale) * g.data()[i];
  }
};

class PluginSchedule final : public Schedule {
 public:
  static constexpr const char* help = "a schedule from the test plugin";
  using Config = NoFields;
  PluginSchedule(const Config&, const ScheduleSetup& setup) : lr_(setup.lr) {}
  double lr(int64_t step) const override { return lr_ / static_cast<double>(step); }

 private:
  const double lr_;
};

}  // namespace heed::testing

HEED_LAYER(heed::testing::PluginLayer, "plugin_layer");
HEED_LAYER(heed::testing::PluginUnused, "plugin_unused");
HEED_TASK(heed::testing::PluginTask, "plugin_task");
HEED_OPTIMIZER(heed::testing::PluginOptimizer, "plugin_optimizer");
HEED_SCHEDULE(heed::testing::PluginSchedule, "plugin_schedule");
