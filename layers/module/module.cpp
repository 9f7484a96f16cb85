#include "layers/module/module.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <unordered_set>

#include "autograd/graph/layer_scope.h"
#include "autograd/ops/recompute.h"
#include "layers/module/added_losses.h"
#include "layers/module/init.h"

namespace heed {

const std::string& intern(const std::string& text) {
  static std::set<std::string>& texts = *new std::set<std::string>;
  static std::mutex& mutex = *new std::mutex;
  const std::lock_guard lock(mutex);
  return *texts.insert(text).first;
}

Tensor Module::operator()(const Input& in) {
  const bool again = recomputes_ && training_ && in.x.requires_grad() && NoGrad::recording() &&
                     ForwardObserver::current() == nullptr;
  return again ? run_again_later(in) : run(in);
}

// The losses that layers inside add are outputs, too: each run collects them for itself.
Tensor Module::run_again_later(const Input& in) {
  const auto names = std::make_shared<std::vector<std::string>>();
  const std::vector<Tensor> outputs = recompute({in.x, in.context}, [this, in, names] {
    const ForwardObserver none;  // as in the first run
    const AddedLosses added;
    std::vector<Tensor> all{run(in)};
    names->clear();
    for (const auto& [name, loss] : added.by_name) {
      names->push_back(name);
      all.push_back(loss);
    }
    return all;
  });
  for (size_t k = 0; k < names->size(); ++k) add_loss((*names)[k], outputs[k + 1]);
  return outputs[0];
}

int64_t Module::recompute_blocks(bool on, int64_t after) {
  if (!branches().empty()) {
    recomputes_ = on && after > 0;
    return after + 1;
  }
  for (auto child = children_.rbegin(); child != children_.rend(); ++child) {
    after = child->second->recompute_blocks(on, after);
  }
  return after;
}

Tensor Module::run(const Input& in) {
  const LayerScope scope(path().c_str());
  ForwardObserver* const observer = ForwardObserver::current();
  if (observer != nullptr) observer->before_forward(*this, in);
  Tensor out = forward(in);
  if (observer != nullptr) {
    out = offered(*this, Activation::output, out);
    observer->after_forward(*this, in, out);
  }
  return out;
}

void Module::observe(const Module& layer, const Shape& output, int64_t flops) {
  if (ForwardObserver* const observer = ForwardObserver::current()) {
    observer->within_operation(layer, output, flops);
  }
}

void Module::draw_as_gpt2() {
  for (Parameter* const parameter : parameters_) {
    if (parameter->tensor().rank() == 2) init::redraw(*parameter, 0.02);
  }
}

size_t Module::adopt(const std::string& name, std::unique_ptr<Module> child) {
  require<Error>(child != nullptr, "module: expected a layer for the child ", name, ", got none");
  for (const auto& [taken, other] : children_) {
    require<Error>(taken != name, "module: two children are called ", name,
                   "; each Child of a layer needs a name of its own");
  }
  child->enter(this, name);
  children_.emplace_back(name, std::move(child));
  return children_.size() - 1;
}

void Module::replace_child(const Module& child, std::unique_ptr<Module> layer) {
  const auto at = std::find_if(children_.begin(), children_.end(),
                               [&](const auto& each) { return each.second.get() == &child; });
  require<Error>(at != children_.end(), "module: expected a child to replace, got another layer");
  layer->enter(this, at->first);
  at->second = std::move(layer);
}

void Module::enter(Module* parent, const std::string& name) {
  parent_ = parent;
  name_ = name;
  forget_path();
}

void Module::forget_path() {
  path_ = nullptr;
  for (const auto& [name, child] : children_) child->forget_path();
}

const std::string& Module::path() const {
  if (path_ == nullptr) {
    const std::string parent = parent_ != nullptr ? parent_->path() : "";
    path_ = &intern(parent.empty() ? name_ : parent + "." + name_);
  }
  return *path_;
}

std::vector<NamedParameter> Module::parameters() const {
  std::vector<NamedParameter> found;
  std::unordered_set<const void*> seen;
  for_each_parameter([&](const std::string& name, Parameter& parameter) {
    if (seen.insert(parameter.identity()).second) {
      found.push_back({name, parameter.tensor(), parameter.rate});
    }
  });
  return found;
}

int64_t Module::parameter_count() const {
  int64_t count = 0;
  for (const NamedParameter& parameter : parameters()) count += parameter.tensor.size();
  return count;
}

void Module::begin_evaluation() {
  before_evaluation_ = evaluations_++ == 0 ? training_ : before_evaluation_;
  training_ = false;
  for (const auto& [name, child] : children_) child->begin_evaluation();
}

void Module::end_evaluation() {
  training_ = --evaluations_ == 0 ? before_evaluation_ : training_;
  for (const auto& [name, child] : children_) child->end_evaluation();
}

void Module::train(bool on) {
  training_ = on;
  for (const auto& [name, child] : children_) child->train(on);
}

}  // namespace heed
