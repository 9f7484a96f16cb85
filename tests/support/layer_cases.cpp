#include "tests/support/layer_cases.h"

#include <algorithm>
#include <filesystem>

#include "autograd/base/modes.h"
#include "autograd/random/fills.h"
#include "autograd/random/generator.h"
#include "layers/module/registry.h"
#include "train/files/safetensors.h"
#include "train/yaml/yaml.h"

namespace heed::testing {

namespace {

struct OneModel {
  LayerChoice model;
  void fields(Fields& f) { f.layer("model", model, "the layer"); }
};

LayerChoice choice_of(const std::string& text, const std::string& file) {
  return read_fields<OneModel>(parse_config(text, file)).model;
}

double largest(const Array& a) {
  double top = 0;
  for (const real v : a.span()) top = std::max(top, std::abs(static_cast<double>(v)));
  return top;
}

}  // namespace

std::unique_ptr<Module> layer_of(const std::string& yaml, uint64_t seed) {
  manual_seed(seed);
  return make_layer(choice_of("model: " + yaml + "\n", "model.yaml"));
}

std::string config_error_of(const std::string& yaml) {
  return message_of<ConfigError>([&] { layer_of(yaml); });
}

std::string parameter_lines(const Module& layer) {
  std::string lines;
  for (const NamedParameter& parameter : layer.parameters()) {
    lines += text(parameter.name, " ", parameter.tensor.shape(), "\n");
  }
  return lines;
}

Array parameter_of(const Module& layer, const std::string& name) {
  for (const NamedParameter& parameter : layer.parameters()) {
    if (parameter.name == name) return parameter.tensor.value();
  }
  FAIL(text("no parameter ", name));
  return {};
}

void set_parameter(Module& layer, const std::string& name, const Array& value) {
  const NoGrad off;
  for (NamedParameter& parameter : layer.parameters()) {
    if (parameter.name == name) {
      REQUIRE(parameter.tensor.shape() == value.shape());
      std::copy_n(value.data(), value.size(), parameter.tensor.mutable_value());
      return;
    }
  }
  FAIL(text("no parameter ", name));
}

void copy_parameters(const Module& from, Module& to) {
  for (const NamedParameter& parameter : to.parameters()) {
    set_parameter(to, parameter.name, parameter_of(from, parameter.name));
  }
}

void perturb_parameters(Module& layer, uint64_t seed) {
  for (const NamedParameter& parameter : layer.parameters()) {
    Array value = parameter.tensor.value().clone();
    const Array noise = values(value.shape(), -0.2, 0.2, ++seed);
    for (int64_t i = 0; i < value.size(); ++i) value.mutable_data()[i] += noise.data()[i];
    set_parameter(layer, parameter.name, value);
  }
}

Array transposed(const Array& a) {
  Array t = Array::uninitialised({a.dim(1), a.dim(0)});
  for (int64_t i = 0; i < a.size(); ++i) {
    t.mutable_data()[i % a.dim(1) * a.dim(0) + i / a.dim(1)] = a.data()[i];
  }
  return t;
}

Array rows_between(const Array& a, int64_t first, int64_t last) {
  const int64_t width = a.size() / a.dim(0);
  return Array::from(a.shape().with(0, last - first),
                     a.span().subspan(first * width, (last - first) * width));
}

Composed::Composed(bool on) : before_(fused()) { set_fused(!on); }
Composed::~Composed() { set_fused(before_); }

Results run(Module& layer, const Input& in, const Array& dy) {
  streams().dropout().manual_seed(5);
  std::vector<NamedParameter> leaves = layer.parameters();
  Input traced = in;
  for (const auto& [name, member] : {std::pair{"x", &Input::x}, {"context", &Input::context}}) {
    if (in.*member) {
      traced.*member = Tensor::parameter((in.*member).value().clone());
      leaves.push_back({name, traced.*member});
    }
  }
  for (NamedParameter& leaf : leaves) leaf.tensor.zero_grad();
  const Tensor y = layer(traced);
  Results results{{"y", y.value().clone()}};
  if (y.requires_grad()) y.backward(dy ? dy.clone() : values(y.shape(), 0.5, 1.5, 7));
  for (NamedParameter& leaf : leaves) {
    const Array gradient = leaf.tensor.grad();
    results[leaf.name] = gradient ? gradient.clone() : Array::zeros(leaf.tensor.shape());
    leaf.tensor.zero_grad();
  }
  return results;
}

double distance(const Results& got, const Results& want) {
  std::map<std::string, double> scale;
  double of_gradients = 0;
  for (const auto& [name, array] : want) {
    scale[name] = largest(array);
    if (name != "y") of_gradients = std::max(of_gradients, scale[name]);
  }
  CHECK(got.size() == want.size());
  double worst = 0;
  for (const auto& tensor : want) {
    const std::string& name = tensor.first;
    const Array& array = tensor.second;
    double size = scale[name];
    if (name != "y") {
      const bool bias = name.ends_with("bias");
      const auto weight =
          bias ? scale.find(name.substr(0, name.size() - 4) + "weight") : scale.end();
      size = std::max({size, of_gradients / 50, weight == scale.end() ? 0 : weight->second});
    }
    CAPTURE(name);
    const auto found = got.find(name);
    REQUIRE(found != got.end());
    REQUIRE(found->second.shape() == array.shape());
    for (int64_t i = 0; i < array.size(); ++i) {
      const double a = found->second.data()[i], b = array.data()[i];
      REQUIRE(std::isfinite(a));
      worst = std::max(worst, std::abs(a - b) / (size == 0 ? 1 : size));
    }
  }
  return worst;
}

int64_t check_near(const Results& got, const Results& want, double tolerance,
                   const std::vector<std::string>& without) {
  Results wanted = want;
  for (const std::string& name : without) wanted.erase(name);
  CHECK(distance(got, wanted) <= tolerance);
  return static_cast<int64_t>(wanted.size());
}

int64_t check_same_bits(const Results& got, const Results& want) {
  CHECK(got.size() == want.size());
  for (const auto& tensor : want) {
    const std::string& name = tensor.first;
    const Array& array = tensor.second;
    CAPTURE(name);
    REQUIRE(got.count(name) == 1);
    check_same_bits(got.at(name), array);
  }
  return static_cast<int64_t>(want.size());
}

namespace {

std::filesystem::path golden_folder() {
  return std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/layers";
}

SafeTensors open_golden(const std::string& name) {
  return SafeTensors(golden_folder() / (name + ".safetensors"));
}

// Loads the parameters of the file, which must be exactly those of the layer.
void load_golden(const SafeTensors& file, Module& layer) {
  int64_t in_file = 0;
  for (const std::string& name : file.names()) in_file += name.starts_with("param.") ? 1 : 0;
  CHECK(in_file == static_cast<int64_t>(layer.parameters().size()));
  for (const NamedParameter& parameter : layer.parameters()) {
    set_parameter(layer, parameter.name, file.array("param." + parameter.name));
  }
}

void types_in(const ConfigNode& node, std::vector<std::string>& types) {
  if (node.is_map() && node.has("type")) types.push_back(node.get("type").text());
  for (const ConfigNode& child : node.children()) types_in(child, types);
}

}  // namespace

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(golden_folder())) {
    if (entry.path().extension() == ".safetensors") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> golden_types(const std::string& name) {
  std::vector<std::string> types;
  types_in(parse_config(open_golden(name).metadata().at("config"), name), types);
  return types;
}

bool is_built(const std::string& name) {
  const std::vector<std::string> types = golden_types(name);
  return std::all_of(types.begin(), types.end(), [](const std::string& type) {
    return layer_registry().types().find(type) != nullptr;
  });
}

std::unique_ptr<Module> golden_layer(const std::string& name) {
  const SafeTensors file = open_golden(name);
  std::unique_ptr<Module> layer = make_layer(choice_of(file.metadata().at("config"), name));
  load_golden(file, *layer);
  layer->train(false);
  return layer;
}

int64_t check_golden(const std::string& name) {
  CAPTURE(name);
  const SafeTensors file = open_golden(name);
  const std::unique_ptr<Module> layer = golden_layer(name);

  Input in = file.find("ids") ? Input(file.ids("ids")) : Input(Tensor(file.array("x")));
  if (file.find("context")) in.context = Tensor(file.array("context"));
  if (file.find("source_ids")) in.source_ids = file.ids("source_ids");
  if (file.find("mask")) in.mask = file.mask("mask");
  if (file.find("source_mask")) in.source_mask = file.mask("source_mask");
  Results want{{"y", file.array("y")}};
  for (const std::string& tensor : file.names()) {
    if (tensor.starts_with("grad.")) want[tensor.substr(5)] = file.array(tensor);
  }
  // The tolerances of tools/reference/forward_cases.py. dx of a layer norm of width 1 is 0, but
  // PyTorch's is a rounding error times 1 / sqrt(eps).
  const double in_float64 = name == "layer_norm_width_1" ? 1e-10 : 1e-11;
  const double tolerance = is_float64 ? in_float64 : 2e-5;
  int64_t compared = 0;
  for (const bool composed : {false, true}) {
    CAPTURE(composed);
    const Composed form(composed);
    compared += check_near(run(*layer, in, file.array("dy")), want, tolerance);
  }
  return compared;
}

namespace {

// What bounds the numbers of a weight and of the bias after it: the width of what it multiplies.
// All weights of a recurrent layer have that of the state, the second one's.
double bound_of(const std::vector<NamedParameter>& all, size_t i) {
  const Shape& shape = all[all[i].name.ends_with("weight_ih_l0") ? i + 1 : i].tensor.shape();
  return 1 / std::sqrt(static_cast<double>(shape.size() / shape[0]));
}

// Draws a parameter as PyTorch's module does, by default in [-bound, bound].
void draw(const NamedParameter& parameter, double bound, Generator& generator,
          std::span<real> out) {
  const std::string& name = parameter.name;
  if (name.ends_with("scale") || name.ends_with("shift")) {
    std::fill(out.begin(), out.end(), name.ends_with("scale") ? real{1} : real{0});
  } else if (name.ends_with("_emb.weight")) {
    fill_normal(generator, out, 0, 1);
  } else {
    fill_uniform(generator, out, -bound, bound);
  }
}

}  // namespace

int64_t check_torch_init(const std::string& yaml, uint64_t seed) {
  const std::unique_ptr<Module> layer = layer_of(yaml, seed);
  Generator generator(seed);
  double bound = 0;
  int64_t compared = 0;
  const std::vector<NamedParameter> all = layer->parameters();
  for (size_t i = 0; i < all.size(); ++i) {
    const NamedParameter& parameter = all[i];
    CAPTURE(parameter.name);
    Array want = Array::uninitialised(parameter.tensor.shape());
    if (want.rank() > 1) bound = bound_of(all, i);
    draw(parameter, bound, generator, {want.mutable_data(), static_cast<size_t>(want.size())});
    compared += check_near(parameter.tensor.value(), want, 1e-7);
  }
  CHECK(generator.state() == streams().init().state());
  return compared;
}

std::vector<LayerCase> attending_layers(const Sizes& sizes) {
  const int64_t d = 12 * sizes.times;
  const std::string context = text("context_length: ", sizes.context_length);
  const std::string rest = text(context, ", dropout: ", sizes.dropout);
  const std::string widths = text("d_in: ", d, ", d_out: ", d);
  const std::string heads = text("type: multi_head_attention, ", widths, ", num_heads: 3, ", rest);
  std::vector<LayerCase> cases{
      {"simple_attention", "{type: simple_attention}", true},
      {"self_attention_v1", text("{type: self_attention_v1, d_in: ", d, ", d_out: 5}"), true},
      {"self_attention_v2", text("{type: self_attention_v2, ", widths, ", qkv_bias: true}"), true},
      {"causal_attention", text("{type: causal_attention, ", widths, ", ", rest, "}"), true},
      {"wrapper",
       text("{type: multi_head_attention_wrapper, d_in: ", d, ", d_out: 5, num_heads: 2, ", rest,
            "}"),
       true},
      {"multi_head", text("{", heads, "}"), true},
      {"multi_head bare", text("{", heads, ", out_proj: false, qkv_bias: true}"), true},
      {"multi_head sum", text("{", heads, ", attention_weights: sum}"), true},
      {"multi_head none", text("{", heads, ", attention_weights: none}"), true},
      {"multi_head not causal", text("{", heads, ", causal: false}"), true},
      {"multi_head partial rope", text("{", heads, ", rope: true, rotary_fraction: 0.5}"), true},
      {"packed", text("{", heads, ", packed: true, qkv_bias: true}"), true},
      {"packed not causal", text("{", heads, ", packed: true, causal: false}"), true}};
  const std::vector<std::string> inner{"simple_attention",
                                       "self_attention_v1",
                                       "self_attention_v2",
                                       "causal_attention",
                                       "multi_head_attention",
                                       "multi_head_attention_wrapper",
                                       "multi_head_attention, causal: false",
                                       "multi_head_attention, packed: true"};
  const std::string block = text("d_model: ", d, ", num_heads: 3, ", rest);
  for (const std::string& type : inner) {
    cases.push_back({"block " + type, text("{type: transformer_block, ", block,
                                           ", attention: {type: ", type, "}}")});
  }
  const std::string gpt = text("type: gpt, vocab_size: 11, num_layers: 2, ", block);
  for (const std::string& type : inner) {
    cases.push_back({"gpt " + type, text("{", gpt, ", attention: {type: ", type, "}}")});
  }
  cases.push_back({"gpt nano", "{" + gpt +
                                   ", bias: false, tie_embeddings: true, init: gpt2, "
                                   "activation: gelu}"});
  cases.push_back({"gpt neox", "{" + gpt +
                                   ", position: rope, rotary_fraction: 0.5, parallel_residual: "
                                   "true, qkv_bias: true}"});
  cases.push_back({"gpt options", "{" + gpt +
                                      ", qkv_bias: true, norm: rms_norm, activation: silu, "
                                      "position: sinusoidal}"});
  cases.push_back(
      {"gpt pattern", "{" + gpt + ", position: rope, attention: [{window: 3}, {rope: false}]}"});
  return cases;
}

Input input_for(const Module& layer, const Shape& lead, int64_t times, uint64_t seed) {
  if (!layer.signature().ids) {
    return Tensor(values(lead.inserted(lead.rank(), 12 * times), -1, 1, seed));
  }
  const Array numbers = values(lead, 0, 11, seed);
  Ids tokens = Ids::uninitialised(lead);
  std::transform(numbers.data(), numbers.data() + numbers.size(), tokens.mutable_data(),
                 [](real v) { return std::min<int32_t>(static_cast<int32_t>(v), 10); });
  return tokens;
}

}  // namespace heed::testing
