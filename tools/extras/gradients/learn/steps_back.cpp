#include "tools/extras/gradients/learn/steps_back.h"

#include <limits>

#include "autograd/ops/concat.h"
#include "autograd/ops/layer_norm.h"
#include "autograd/ops/linear.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/mean.h"
#include "autograd/ops/reshape.h"
#include "autograd/ops/rms_norm.h"
#include "autograd/ops/rotary.h"
#include "autograd/ops/slice.h"
#include "autograd/ops/softmax.h"
#include "autograd/ops/stack.h"
#include "layers/module/registry.h"
#include "tools/extras/gradients/backward/recording.h"

namespace heed::gradients {

namespace {

using explain::PageData;
using explain::Step;

// The operation of a step, on what the steps it reads have given.
class Operation {
 public:
  Operation(const Step& step, const std::vector<Tensor>& x, const PageData& page)
      : step_(step), x_(x), page_(page) {}

  Tensor run() const {
    const std::string& kind = step_.kind;
    return kind == "sum"          ? x_[0] + x_[1]
           : kind == "times"      ? x_[0] * x_[1]
           : kind == "norm"       ? layer_norm(x_[0], vector("scale"), vector("shift"), eps())
           : kind == "rms_norm"   ? rms_norm(x_[0], vector("scale"), eps())
           : kind == "linear"     ? linear(x_[0], matrix("weight"), vector("bias"))
           : kind == "rotated"    ? rotated()
           : kind == "scores"     ? scores()
           : kind == "scaled"     ? x_[0] * Tensor(static_cast<real>(*find<double>("scale")))
           : kind == "masked"     ? x_[0] + Tensor(future())
           : kind == "softmax"    ? softmax(x_[0])
           : kind == "mix"        ? mix()
           : kind == "concat"     ? x_[0] * Tensor(real{1})
           : kind == "activation" ? activated()
           : kind == "mean"       ? mean(x_[0], 0, true)
           : kind == "first"      ? slice(x_[0], 0, 0, 1)
           : kind == "last"       ? slice(x_[0], 0, x_[0].dim(0) - 1, x_[0].dim(0))
                                  : refused();
  }

 private:
  template <class T>
  const T* find(const std::string& name) const {
    for (const auto& [key, value] : step_.more) {
      if (key == name) return std::get_if<T>(&value);
    }
    return nullptr;
  }
  double eps() const { return *find<double>("eps"); }
  int64_t number(const char* name) const { return *find<int64_t>(name); }
  Tensor vector(const char* name) const {
    const auto* const of = find<std::string>(name);
    return of == nullptr ? Tensor() : Tensor(page_.vector(*of));
  }
  Tensor matrix(const char* name) const { return page_.matrix(*find<std::string>(name)); }

  // Columns of head h of the queries in x, or of the keys and values that it shares.
  Tensor head(const Tensor& x, int64_t h) const {
    const int64_t width = number("width");
    return slice(x, 1, h * width, (h + 1) * width);
  }
  int64_t shared(int64_t h) const { return h / (number("heads") / number("kv_heads")); }

  Tensor scores() const {
    std::vector<Tensor> all;  // S = Q K^T
    for (int64_t h = 0; h < number("heads"); ++h) {
      all.push_back(matmul(head(x_[0], h), head(x_[1], shared(h)), Trans::no, Trans::yes));
    }
    return stack(all);  // (H, T, S)
  }
  Tensor mix() const {
    const Tensor& weights = x_[0];
    std::vector<Tensor> all;  // Z = A V
    for (int64_t h = 0; h < number("heads"); ++h) {
      const Tensor of = reshape(slice(weights, 0, h, h + 1), {weights.dim(1), weights.dim(2)});
      all.push_back(matmul(of, head(x_[1], shared(h))));
    }
    return concat(all, 1);  // (T, H d)
  }
  // 0, and -infinity for columns s > t.
  Array future() const {
    const int64_t rows = x_[0].dim(1), columns = x_[0].dim(2);
    Array mask = Array::zeros({rows, columns});
    for (int64_t t = 0; t < rows; ++t) {
      for (int64_t s = t + 1; s < columns; ++s) {
        mask.mutable_data()[t * columns + s] = -std::numeric_limits<real>::infinity();
      }
    }
    return mask;
  }
  Tensor rotated() const {
    const auto& angles = *find<std::vector<double>>("angles");
    const int64_t rows = x_[0].dim(0), half = std::ssize(angles);
    Array table = Array::uninitialised({rows, 2 * half});
    for (int64_t t = 0; t < rows; ++t) {
      for (int64_t i = 0; i < half; ++i) {
        const Circle at = circle_at(static_cast<double>(t) * angles[static_cast<size_t>(i)]);
        table.mutable_data()[t * 2 * half + i] = static_cast<real>(at.cosine);
        table.mutable_data()[t * 2 * half + half + i] = static_cast<real>(at.sine);
      }
    }
    return rotary(x_[0], table, 0, number("width"));
  }
  Tensor activated() const {
    return (*make_layer(*find<std::string>("function"), ConfigNode::map({})))(x_[0]);
  }
  [[noreturn]] Tensor refused() const {
    fail<ConfigError>("heed explain: --learn: ", step_.id,
                      " is a layer whose steps are not on the ",
                      "page: what its numbers get of the gradient cannot be told; heed probe RUN ",
                      "attribute and teach take any model");
  }

  const Step& step_;
  const std::vector<Tensor>& x_;
  const PageData& page_;
};

using Arrays = std::map<std::string, Array>;

// The values that the page has of the steps that one reads, as leaves of a graph.
std::vector<Tensor> inputs_of(const Step& step, const Arrays& values) {
  std::vector<Tensor> x;
  for (const std::string& id : step.of) x.push_back(Tensor::parameter(values.at(id)));
  return x;
}

}  // namespace

std::map<std::string, Array> run_back(PageData& page, const Array& cotangent) {
  Arrays values, gradients;
  std::vector<Step*> steps;
  for (explain::Section& section : page.sections()) {
    for (Step& step : section.steps) {
      steps.push_back(&step);
      const Array value = page.vector(step.id);
      values[step.id] =
          value ? value : Operation(step, inputs_of(step, values), page).run().value();
    }
  }
  gradients[steps.back()->id] = cotangent.reshaped(values.at(steps.back()->id).shape());
  for (auto at = steps.rbegin(); at != steps.rend(); ++at) {
    Step& step = **at;
    Array& gradient = gradients[step.id];
    if (!gradient) gradient = Array::zeros(values.at(step.id).shape());
    if (step.of.empty()) continue;
    const std::vector<Tensor> x = inputs_of(step, values);
    Operation(step, x, page).run().backward(gradient);
    std::vector<double> norms;
    for (size_t i = 0; i < x.size(); ++i) {
      const Array sent = x[i].grad();
      norms.push_back(sent ? euclidean_norm(sent.span()) : 0);
      Array& sum = gradients[step.of[i]];
      sum = sum && sent ? (Tensor(sum) + Tensor(sent)).value() : sent ? sent.clone() : sum;
    }
    step.more.emplace_back("through", norms);
  }
  return gradients;
}

}  // namespace heed::gradients
