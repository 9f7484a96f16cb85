#include "tools/extras/checks/train/layer_gradients.h"

#include <algorithm>

#include "autograd/base/rethrow.h"
#include "layers/module/registry.h"
#include "tools/extras/checks/layers/layer_inputs.h"
#include "tools/extras/checks/layers/variants.h"
#include "tools/extras/checks/train/examine_op.h"

namespace heed {

namespace {

// Replaces the parameter tensors of a layer; restores them at the end of the scope.
class Binding {
 public:
  explicit Binding(const Module& layer)
      : originals_(layer.parameters()), places_(originals_.size()) {
    layer.for_each_parameter([this](const std::string&, Parameter& parameter) {
      for (size_t k = 0; k < originals_.size(); ++k) {
        if (originals_[k].tensor.node().get() == parameter.tensor().node().get()) {
          places_[k].push_back(&parameter);
        }
      }
    });
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
  const std::vector<NamedParameter> originals_;
  std::vector<std::vector<Parameter*>> places_;  // that share each tensor: several if it is tied
};

GradcheckResult check_form(const LayerMaker& make, const Signature& sizes, const InputForm& form,
                           const LayerCheckOptions& options, uint64_t seed) {
  const DropoutStream stream = streams().dropout_stream();
  manual_seed(seed, Generators::separate, stream);
  const std::unique_ptr<Module> layer = make();
  Generator numbers(seed);
  perturb(*layer, numbers);
  Binding binding(*layer);

  GradcheckOptions checks{.tolerance = options.tolerance, .sample = options.sample};
  checks.smallest = 1e-3;  // the gradient of a key bias is 0; numerically it is about 1e-11
  std::vector<Tensor> inputs;
  for (const NamedParameter& parameter : binding.originals()) {
    inputs.push_back(Tensor::parameter(parameter.tensor.value().clone()));
    checks.names.push_back(parameter.name);
  }
  const size_t parameters = inputs.size();
  Input in = random_input(sizes, form, numbers);
  for (const auto& [name, member] : {std::pair{"x", &Input::x}, {"context", &Input::context}}) {
    if (in.*member) {
      inputs.push_back(Tensor::parameter((in.*member).value()));
      checks.names.push_back(name);
    }
  }
  return gradcheck(
      [&](const std::vector<Tensor>& given) {
        manual_seed(seed, Generators::separate, stream);  // same dropout mask in every evaluation
        binding.bind([&](size_t k) { return given[k]; });
        in.x = given.size() > parameters ? given[parameters] : Tensor();
        in.context = given.size() > parameters + 1 ? given[parameters + 1] : Tensor();
        return (*layer)(in);
      },
      inputs, checks);
}

// Three random layers and inputs, all of which must pass: a backward may be wrong on one side of a
// branch only. The first is compared element by element, the others along whole tensors, which
// takes a few evaluations for each.
GradcheckResult check_seeds(const LayerMaker& make, const Signature& sizes, const InputForm& form,
                            LayerCheckOptions options) {
  GradcheckResult all = check_form(make, sizes, form, options, 1);
  options.sample = 0;
  for (uint64_t seed = 2; seed <= 3 && all.passed; ++seed) {
    const GradcheckResult one = check_form(make, sizes, form, options, seed);
    all.worst = std::max(all.worst, one.worst);
    all.passed = one.passed;
    all.message = one.message;
  }
  return all;
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

// Returns a config with all options changed: each at the last of its other values that is valid
// together with the changes before it. Absent if that changes only one option, which is not new.
ConfigNode all_changed(const std::string& type, const std::vector<ConfigNode>& variants) {
  ConfigNode changed = variants.front();
  int options = 0;
  for (const ConfigNode& variant : variants) {
    for (const ConfigNode& option : variant.children()) {
      if (variants.front().get(option.key()) == option) continue;
      ConfigNode with = changed;
      with.set(option.key(), option);
      if (!error_of<ConfigError>([&] { read_options("layer", type, with); })) {
        options += changed.has(option.key()) ? 0 : 1;
        changed = std::move(with);
      }
    }
  }
  return options > 1 ? changed : ConfigNode();
}

}  // namespace

std::vector<LayerCheck> check_gradients(const LayerChoice& choice,
                                        const LayerCheckOptions& options) {
  return check_gradients(
      choice.type(), [&choice] { return make_layer(choice); }, options);
}

std::vector<LayerCheck> check_gradients(const std::string& name, const LayerMaker& make,
                                        const LayerCheckOptions& options) {
  require<Error>(is_float64, "check_gradients: needs float64, this is the float32 library");
  const KeepStreams keep;
  const Signature sizes = sized_signature(*make(), options.width);
  std::vector<LayerCheck> checks;
  for (const InputForm& form : input_forms(sizes, options.tokens)) {
    GradcheckResult result;
    const Finding ran = examine("", [&] {
      result = check_seeds(make, sizes, form, options);
      return result.message;
    });
    checks.push_back({name, "", describe(sizes, form), result.compared, result.worst, result.passed,
                      ran.message});
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
    for (LayerCheck& check : check_gradients(read_options("layer", type, variant), options)) {
      check.options = differences(variant, base);
      all.push_back(std::move(check));
    }
  }
  return all;
}

}  // namespace heed
