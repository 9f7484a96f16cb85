#include "layers/layer_check.h"

#include <algorithm>

#include "autograd/random.h"
#include "layers/probe.h"
#include "layers/registry.h"

namespace heed {

namespace {

class KeepStreams {
 public:
  KeepStreams() : before_(streams().state()) {}
  ~KeepStreams() { streams().set_state(before_); }
  KeepStreams(const KeepStreams&) = delete;
  KeepStreams& operator=(const KeepStreams&) = delete;

 private:
  const StreamsState before_;
};

// The parameters of a layer under other tensors, until the end of the scope.
class Binding {
 public:
  explicit Binding(Module& layer) : originals_(layer.parameters()), places_(originals_.size()) {
    find_places(layer);
  }
  ~Binding() {
    bind([this](size_t k) { return originals_[k].tensor; });
  }
  Binding(const Binding&) = delete;
  Binding& operator=(const Binding&) = delete;

  void bind(const std::function<Tensor(size_t)>& tensor_of) {
    for (size_t k = 0; k < places_.size(); ++k) {
      for (Parameter* parameter : places_[k]) {
        parameter->tensor() = tensor_of(k);
      }
    }
  }

  const std::vector<NamedParameter>& originals() const { return originals_; }

 private:
  // A tied parameter has several places.
  void find_places(const Module& layer) {
    for (Parameter* parameter : layer.own_parameters()) {
      for (size_t k = 0; k < originals_.size(); ++k) {
        if (originals_[k].tensor.node().get() == parameter->tensor().node().get()) {
          places_[k].push_back(parameter);
        }
      }
    }
    for (const auto& [name, child] : layer.children()) {
      find_places(*child);
    }
  }

  const std::vector<NamedParameter> originals_;
  std::vector<std::vector<Parameter*>> places_;
};

Array uniform(const Shape& shape, double low, double high, Generator& generator) {
  Array values = Array::uninitialised(shape);
  fill_uniform(generator, {values.mutable_data(), static_cast<size_t>(values.size())}, low, high);
  return values;
}

Ids random_ids(const Shape& shape, int64_t vocab_size, Generator& generator) {
  Ids ids = Ids::uninitialised(shape);
  for (int64_t i = 0; i < ids.size(); ++i) {
    const auto word = static_cast<int64_t>(generator.random32());
    ids.mutable_data()[i] = static_cast<int32_t>(word % vocab_size);
  }
  return ids;
}

// Every third key is hidden, another one for each sequence; with queries (B, 1, T, S) another one
// for each query too, and the last query of the first sequence sees nothing. Under a causal
// mask the first token of the first sequence sees nothing in either.
Mask padding(int64_t batch, int64_t tokens, bool with_queries) {
  Mask mask =
      Mask::uninitialised(with_queries ? Shape{batch, 1, tokens, tokens} : Shape{batch, tokens});
  const int64_t queries = with_queries ? tokens : 1;
  for (int64_t i = 0; i < mask.size(); ++i) {
    const int64_t s = i % tokens, t = i / tokens % queries, b = i / tokens / queries;
    const bool blind = with_queries && b == 0 && t == tokens - 1;
    mask.mutable_data()[i] = !blind && (s + b + 2 * t) % 3 != 0;
  }
  return mask;
}

// A kind of input: (B, T) without x's width, a single sequence, a mask.
struct Form {
  Shape lead;
  Mask mask;
};

std::vector<Form> input_forms(int64_t tokens, bool masks) {
  const int64_t batch = 2;
  std::vector<Form> forms{{{batch, tokens}, {}}, {{tokens}, {}}};
  if (tokens > 1) {
    forms.push_back({{batch, 1}, {}});
  }
  if (masks) {
    forms.push_back({{batch, tokens}, padding(batch, tokens, false)});
    forms.push_back({{batch, tokens}, padding(batch, tokens, true)});
  }
  return forms;
}

std::string describe(const InputSizes& sizes, const Form& form) {
  const bool ids = sizes.takes == Module::Takes::ids;
  const Shape shape = ids ? form.lead : form.lead.inserted(form.lead.rank(), sizes.width);
  const std::string mask = form.mask ? text(", mask ", form.mask.shape()) : "";
  return text(ids ? "ids " : "x ", shape, mask);
}

GradcheckResult check_form(const LayerMaker& make, const InputSizes& sizes, const Form& form,
                           const LayerCheckOptions& options, uint64_t seed) {
  const DropoutStream stream = streams().dropout_stream();
  manual_seed(seed, Generators::separate, stream);
  const std::unique_ptr<Module> layer = make();
  Binding binding(*layer);
  Generator numbers(seed);

  GradcheckOptions checks{.tolerance = options.tolerance, .sample = options.sample};
  checks.smallest = 1e-3;  // the bias of a key: zero, found as 1e-11
  std::vector<Tensor> inputs;
  for (const NamedParameter& parameter : binding.originals()) {
    Array values = parameter.tensor.value().clone();
    const Array shift = uniform(values.shape(), -0.3, 0.3, numbers);
    std::transform(values.data(), values.data() + values.size(), shift.data(),
                   values.mutable_data(), std::plus<real>());
    inputs.push_back(Tensor::parameter(std::move(values)));
    checks.names.push_back(parameter.name);
  }
  Input in;
  in.mask = form.mask;
  if (sizes.takes == Module::Takes::ids) {
    in.ids = random_ids(form.lead, sizes.vocab_size, numbers);
  } else {
    const Shape shape = form.lead.inserted(form.lead.rank(), sizes.width);
    inputs.push_back(Tensor::parameter(uniform(shape, -1.5, 1.5, numbers)));
    checks.names.push_back("x");
  }
  return gradcheck(
      [&](const std::vector<Tensor>& given) {
        manual_seed(seed, Generators::separate, stream);  // every evaluation drops the same
        binding.bind([&](size_t k) { return given[k]; });
        return (*layer)(sizes.takes == Module::Takes::x ? in.with(given.back()) : in);
      },
      inputs, checks);
}

std::string differences(const ConfigNode& config, const ConfigNode& base) {
  std::string out;
  for (const ConfigNode& option : config.children()) {
    if (!(base.get(option.key()) == option)) {
      std::string value = to_yaml(option);
      value.erase(value.find_last_not_of('\n') + 1);
      out += (out.empty() ? "" : ", ") + option.key() + ": " + value;
    }
  }
  return out;
}

// Every option at the last of its other values; absent when that is no valid config, or no new one.
ConfigNode all_changed(const std::string& type, const std::vector<ConfigNode>& variants) {
  ConfigNode changed = variants.front();
  int options = 0;
  for (const ConfigNode& variant : variants) {
    for (const ConfigNode& option : variant.children()) {
      if (!(variants.front().get(option.key()) == option)) {
        options += changed.has(option.key()) ? 0 : 1;
        changed.set(option.key(), option);
      }
    }
  }
  ConfigErrors errors;
  layer_registry().types().find(type)->complete(changed, errors);
  return options > 1 && errors.empty() ? changed : ConfigNode();
}

}  // namespace

std::vector<LayerCheck> check_gradients(const LayerSpec& spec, const LayerCheckOptions& options) {
  return check_gradients(
      spec.type, [&spec] { return make_layer(spec); }, complete_options(spec), options);
}

std::vector<LayerCheck> check_gradients(const std::string& name, const LayerMaker& make,
                                        const ConfigNode& config,
                                        const LayerCheckOptions& options) {
  const KeepStreams keep;
  const std::unique_ptr<Module> layer = make();
  const InputSizes sizes = input_sizes(*layer, config);
  const int64_t tokens = std::min(options.tokens, sizes.context_length.value_or(options.tokens));
  Input example;
  if (sizes.takes == Module::Takes::ids) {
    example.ids = Ids::zeros({1, 1});
  } else {
    example.x = Array::zeros({1, 1, sizes.width});
  }
  const bool masks = takes_mask(*layer, example);

  std::vector<LayerCheck> checks;
  for (const Form& form : input_forms(tokens, masks)) {
    // A step across the kink of a relu looks like a wrong gradient; with other numbers it does
    // not come back, a wrong gradient does.
    GradcheckResult result;
    for (uint64_t seed = 1; seed <= 3 && !result.passed; ++seed) {
      result = check_form(make, sizes, form, options, seed);
    }
    checks.push_back({name, "", describe(sizes, form), result.compared, result.worst, result.passed,
                      result.message});
  }
  return checks;
}

std::vector<LayerCheck> check_gradients_of_type(const std::string& type,
                                                const LayerCheckOptions& options) {
  const ConfigType* known = layer_registry().types().find(type);
  require<ConfigError>(known != nullptr, "unknown layer \"", type, "\"");
  std::vector<ConfigNode> variants = option_variants(known->fields());
  const ConfigNode base = variants.front();
  if (ConfigNode changed = all_changed(type, variants); !changed.is_absent()) {
    variants.push_back(std::move(changed));
  }
  std::vector<LayerCheck> all;
  for (const ConfigNode& variant : variants) {
    for (LayerCheck& check : check_gradients({type, variant}, options)) {
      check.options = differences(variant, base);
      all.push_back(std::move(check));
    }
  }
  return all;
}

}  // namespace heed
