#include "tools/extras/gradients/backward/recording.h"

#include <algorithm>
#include <cmath>

#include "autograd/base/sum.h"
#include "autograd/graph/graph_observer.h"

namespace heed::gradients {

namespace {

// A layer that reads ids itself, not by a layer inside of it.
bool embeds(const Module& layer) {
  return layer.signature().ids &&
         std::none_of(layer.children().begin(), layer.children().end(),
                      [](const auto& child) { return child.second->signature().ids; });
}

// A PartObserver is shown arrays. The tensor of one, whose node gets its gradient, is what leaves
// the layer or enters the next one: the output of a part, and the heads z, which out_proj reads.
class Recorder final : public probe::PartObserver {
 public:
  Recorder(Recording& to, const std::vector<Watched>& watched,
           const std::vector<const Module*>& entered, std::string probe)
      : PartObserver(watched,
                     [this](const probe::Observation& seen) {
                       Recorded& recorded = to_.parts[seen.key()];
                       recorded.value = seen.value;
                       seen_.emplace_back(seen.layer, &recorded);
                       return Array();
                     }),
        to_(to),
        entered_(entered),
        probe_(std::move(probe)) {}

  void before_forward(const Module& layer, const Input& in) override {
    PartObserver::before_forward(layer, in);
    find(in.x);
    if (std::count(entered_.begin(), entered_.end(), &layer) > 0) {
      keep(to_.inputs[&layer], in.x);
    }
  }

  void after_forward(const Module& layer, const Input& in, const Tensor& out) override {
    PartObserver::after_forward(layer, in, out);
    find(out);
    if (in.ids && out.rank() == 3 && embeds(layer)) {
      require<ConfigError>(out.requires_grad(), probe_, ": expected an embedding that is trained, ",
                           layer.path(), " is frozen: no gradient reaches it");
      to_.embeddings.push_back({&layer, in.ids, {}});
      keep(to_.embeddings.back().vectors, out);
    }
  }

  // The pass back can begin. Throws ConfigError if the tensor of an activation was not found.
  void end_forward() const {
    require<ConfigError>(seen_.empty(), probe_, ": the heads of ",
                         seen_.empty() ? "" : seen_.front().first->path(),
                         " are no input of a layer: their gradient cannot be told");
  }
  // Takes the gradient of a node, which is complete.
  void deliver(const Node& node) const {
    for (const auto& [of, to] : waiting_) {
      if (of == &node && node.gradient) {
        to->gradient = node.gradient.reshaped(to->value.shape()).clone();
      }
    }
  }
  void end_backward() const {
    for (const auto& [of, to] : waiting_) {
      if (!to->gradient) to->gradient = Array::zeros(to->value.shape());
    }
  }

 private:
  void find(const Tensor& tensor) {
    std::erase_if(seen_, [&](const auto& of) {
      const bool is_it = tensor && tensor.size() == of.second->value.size() &&
                         tensor.value().data() == of.second->value.data();
      if (is_it) waiting_.emplace_back(tensor.node().get(), of.second);
      return is_it;
    });
  }
  void keep(Recorded& recorded, const Tensor& value) {
    recorded.value = value.value();
    waiting_.emplace_back(value.node().get(), &recorded);
  }

  Recording& to_;
  const std::vector<const Module*>& entered_;
  const std::string probe_;
  std::vector<std::pair<const Module*, Recorded*>> seen_;   // whose tensors are not found yet
  std::vector<std::pair<const Node*, Recorded*>> waiting_;  // for the gradients of their nodes
};

// Once a node has run, the gradient of the next one is complete.
class GradientObserver final : public GraphObserver {
 public:
  explicit GradientObserver(const Recorder& recorder) : recorder_(recorder) {}
  void has_run(std::span<const NodeRef> nodes, size_t k, bool /*reached*/) override {
    do {
      ++k;
      if (k < nodes.size()) recorder_.deliver(*nodes[k].get());
    } while (k < nodes.size() && nodes[k]->is_leaf());
  }

 private:
  const Recorder& recorder_;
};

double dot(std::span<const real> a, std::span<const real> b) {
  return sum_of(0, std::ssize(a), [x = a.data(), y = b.data()](int64_t i) {
    return static_cast<double>(x[i]) * static_cast<double>(y[i]);
  });
}

}  // namespace

double euclidean_norm(std::span<const real> values, std::span<const real> less) {
  const real *const a = values.data(), *const b = less.empty() ? nullptr : less.data();
  return std::sqrt(sum_of(0, std::ssize(values), [a, b](int64_t i) {
    const double each = static_cast<double>(a[i]) - (b != nullptr ? static_cast<double>(b[i]) : 0);
    return each * each;
  }));
}

double Recorded::product() const { return dot(value.span(), gradient.span()); }

double Recorded::product_at(int64_t t) const {
  const auto width = static_cast<size_t>(value.dim(-1)), first = static_cast<size_t>(t) * width;
  return dot(value.span().subspan(first, width), gradient.span().subspan(first, width));
}

std::vector<double> Recording::products_of_heads(const Module* attention) const {
  std::vector<double> all;
  for (const auto& [key, z] : parts) {
    const auto& [part, what, first] = key;
    if (part != attention || what != Activation::heads) continue;
    const int64_t heads = z.value.dim(2), rows = z.value.dim(1) * heads;
    all.resize(static_cast<size_t>(first + heads));
    for (int64_t i = 0; i < rows; ++i) {
      all[static_cast<size_t>(first + i % heads)] += z.product_at(i);
    }
  }
  return all;
}

Recording record(Module& model, const Input& in,
                 const std::vector<probe::PartObserver::Watched>& watched,
                 const std::vector<const Module*>& entered, const Cotangent& cotangent,
                 const std::string& probe) {
  require<ConfigError>(static_cast<bool>(in.ids), probe, ": expected a model that reads tokens");
  zero_gradients(model);
  Recording recording;
  Recorder recorder(recording, watched, entered, probe);
  const Tensor output = model(in);
  recorder.end_forward();
  recording.output = output.value();
  GradientObserver observer(recorder);
  output.backward(cotangent(recording.output));
  recorder.end_backward();
  return recording;
}

void zero_gradients(const Module& model) {
  for (NamedParameter& parameter : model.parameters()) parameter.tensor.zero_grad();
}

}  // namespace heed::gradients
