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
Mask padding(int64_t batch, int64_t queries, int64_t keys, bool with_queries) {
  Mask mask =
      Mask::uninitialised(with_queries ? Shape{batch, 1, queries, keys} : Shape{batch, keys});
  const int64_t rows = with_queries ? queries : 1;
  for (int64_t i = 0; i < mask.size(); ++i) {
    const int64_t s = i % keys, t = i / keys % rows, b = i / keys / rows;
    const bool blind = with_queries && b == 0 && t == queries - 1;
    mask.mutable_data()[i] = !blind && (s + b + 2 * t) % 3 != 0;
  }
  return mask;
}

// A kind of input: a batch (0: a single sequence) of tokens, a second sequence where the layer
// takes one, a mask.
struct Form {
  int64_t batch = 0;
  int64_t tokens = 0;
  int64_t source_tokens = 0;
  Mask mask = {};
};

std::vector<Form> input_forms(const InputSizes& sizes, int64_t most, bool masks) {
  const int64_t batch = 2;
  const int64_t tokens = std::min(most, sizes.context_length.value_or(most));
  // Of another length than x, so that one cannot be taken for the other.
  const int64_t source = std::min(most + 1, sizes.source_length.value_or(most + 1));
  const int64_t keys = sizes.takes_context ? source : tokens;
  std::vector<Form> forms{{batch, tokens, source}, {0, tokens, source}};
  if (tokens > 1) {
    forms.push_back({batch, 1, source});
  }
  if (masks) {
    forms.push_back({batch, tokens, source, padding(batch, tokens, keys, false)});
  }
  const bool over_source = sizes.takes == Module::Takes::ids && sizes.takes_context;
  if (masks && !over_source) {
    forms.push_back({batch, tokens, source, padding(batch, tokens, keys, true)});
  }
  return forms;
}

// An input of that form with numbers; x and context are appended to `inputs`, named in `names`.
Input random_input(const InputSizes& sizes, const Form& form, const Module& layer,
                   Generator& generator, std::vector<Tensor>& inputs,
                   std::vector<std::string>& names) {
  Input in = blank_input(sizes, form.batch, form.tokens, form.source_tokens);
  in.*mask_member(layer) = form.mask;
  if (in.ids) {
    in.ids = random_ids(in.ids.shape(), sizes.vocab_size, generator);
  }
  if (in.source_ids) {
    in.source_ids = random_ids(in.source_ids.shape(), sizes.source_vocab_size, generator);
  }
  for (const auto& [name, member] : {std::pair{"x", &Input::x}, {"context", &Input::context}}) {
    if (in.*member) {
      inputs.push_back(Tensor::parameter(uniform((in.*member).shape(), -1.5, 1.5, generator)));
      names.push_back(name);
    }
  }
  return in;
}

std::string describe(const InputSizes& sizes, const Form& form) {
  const Input in = blank_input(sizes, form.batch, form.tokens, form.source_tokens);
  std::string out = in.ids ? text("ids ", in.ids.shape()) : text("x ", in.x.shape());
  out += in.source_ids ? text(", source_ids ", in.source_ids.shape()) : "";
  out += in.context ? text(", context ", in.context.shape()) : "";
  return out + (form.mask ? text(", mask ", form.mask.shape()) : "");
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
  const size_t parameters = inputs.size();
  Input in = random_input(sizes, form, *layer, numbers, inputs, checks.names);
  return gradcheck(
      [&](const std::vector<Tensor>& given) {
        manual_seed(seed, Generators::separate, stream);  // every evaluation drops the same
        binding.bind([&](size_t k) { return given[k]; });
        in.x = given.size() > parameters ? given[parameters] : Tensor();
        in.context = given.size() > parameters + 1 ? given[parameters + 1] : Tensor();
        return (*layer)(in);
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

// Every option at the last of its other values that goes with those before; absent when that is no
// new config.
ConfigNode all_changed(const std::string& type, const std::vector<ConfigNode>& variants) {
  ConfigNode changed = variants.front();
  int options = 0;
  for (const ConfigNode& variant : variants) {
    for (const ConfigNode& option : variant.children()) {
      if (variants.front().get(option.key()) == option) continue;
      ConfigNode with = changed;
      with.set(option.key(), option);
      ConfigErrors errors;
      layer_registry().types().find(type)->complete(with, errors);
      if (errors.empty()) {
        options += changed.has(option.key()) ? 0 : 1;
        changed = std::move(with);
      }
    }
  }
  return options > 1 ? changed : ConfigNode();
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
  const bool masks = takes_mask(*layer, blank_input(sizes, 1, 1, 1));

  std::vector<LayerCheck> checks;
  for (const Form& form : input_forms(sizes, options.tokens, masks)) {
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
