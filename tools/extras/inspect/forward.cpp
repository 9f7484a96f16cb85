#include "tools/extras/inspect/forward.h"

#include <algorithm>

#include "autograd/threads/machine.h"
#include "layers/config/values.h"
#include "layers/module/registry.h"
#include "tools/extras/checks/layers/layer_inputs.h"
#include "train/checkpoint/state_dict.h"
#include "train/plan.h"

namespace heed {

namespace {

// The required tensors: the input, and that of a second sequence for layers that take a context.
std::vector<std::string> value_names(const Signature& takes) {
  if (!takes.context) return {takes.ids ? "ids" : "x"};
  return takes.ids ? std::vector<std::string>{"source_ids", "ids"}
                   : std::vector<std::string>{"x", "context"};
}

std::string mask_name(const Signature& takes) {
  return mask_member(takes) == &Input::mask ? "mask" : "source_mask";
}

// The inputs of a layer from a file: its input, and the cotangent dy of its output.
struct Given {
  Input in;
  Array dy;
};

// Collects the file's tensors for the layer. The functions map a name to floats, ids or a mask.
template <class Numbers, class Tokens, class Keep>
Given gather(const SafeTensors& file, const Signature& takes, const Numbers& numbers,
             const Tokens& tokens, const Keep& keep) {
  Given given;
  if (takes.ids) {
    given.in.ids = tokens("ids");
    given.in.source_ids = takes.context ? tokens("source_ids") : Ids();
  } else {
    given.in.x = Tensor::parameter(numbers("x"));
    given.in.context = takes.context ? Tensor::parameter(numbers("context")) : Tensor();
  }
  if (file.find(mask_name(takes)) != nullptr) given.in.*mask_member(takes) = keep(mask_name(takes));
  if (file.find("dy") != nullptr) given.dy = numbers("dy");
  return given;
}

// Inputs with the shapes of the file's tensors but without data, for a dry run.
Given blanks(const SafeTensors& file, const Signature& takes) {
  const auto shape = [&](const std::string& name) {
    return Shape(std::span<const int64_t>(file.at(name).shape));
  };
  return gather(
      file, takes, [&](const std::string& name) { return Array::uninitialised(shape(name)); },
      [&](const std::string& name) { return Ids::uninitialised(shape(name)); },
      [&](const std::string& name) { return Mask::uninitialised(shape(name)); });
}

Given read(const SafeTensors& file, const Signature& takes) {
  return gather(
      file, takes, [&](const std::string& name) { return file.array(name); },
      [&](const std::string& name) { return file.ids(name); },
      [&](const std::string& name) { return file.mask(name); });
}

void check_names(const SafeTensors& file, Module& layer, const std::string& type,
                 const std::string& path) {
  const Signature takes = layer.signature();
  std::vector<std::string> allowed = value_names(takes);
  for (const std::string& name : allowed) {
    const std::string what =
        (takes.ids ? "token ids (B, " : "numbers (B, ") + std::string(name == "context" ? "S, d)"
                                                                      : name == "x"     ? "T, d)"
                                                                      : name == "ids"   ? "T)"
                                                                                        : "S)");
    require<IoError>(file.find(name) != nullptr, path, ": expected a tensor ", name, ", ", what,
                     " for the ", type, ", got ",
                     file.names().empty() ? "none" : joined(file.names()));
  }
  allowed.push_back("dy");
  Input without_mask = blanks(file, takes).in;
  without_mask.*mask_member(takes) = {};
  layer(without_mask);  // throws the layer's own message for a wrong shape
  if (takes.mask) allowed.push_back(mask_name(takes));
  for (const std::string& name : file.names()) {
    const bool known = std::find(allowed.begin(), allowed.end(), name) != allowed.end();
    require<IoError>(known, path, ": unknown tensor ", printable(name), "; the ", type, " takes ",
                     joined(allowed));
  }
}

Tensor run_layer(Module& layer, const Given& given, bool backward) {
  if (!backward) {
    const NoGrad off;
    return layer(given.in);
  }
  const Tensor y = layer(given.in);
  require(!given.dy || given.dy.shape() == y.shape(), "forward: expected dy of the shape of y, ",
          y.shape(), ", got ", given.dy.shape());
  if (y.requires_grad()) y.backward(given.dy ? given.dy : Array::full(y.shape(), 1));
  return y.detach();
}

// Checks names, shapes and memory in a dry run, before any data is read.
void rehearse(const SafeTensors& file, const LayerChoice& choice, const ForwardJob& job) {
  const DryRun dry;
  const int64_t before = pool::stats().live_bytes;
  const std::unique_ptr<Module> layer = make_layer(choice);
  check_names(file, *layer, choice.type(), job.in.string());
  run_layer(*layer, blanks(file, layer->signature()), job.backward);
  const int64_t needed = pool::stats().peak_bytes - before;
  const int64_t available = memory().available;
  require<ConfigError>(needed <= available, "the layer needs about ", needed / 1'000'000,
                       " MB of memory for this input, this machine has ", available / 1'000'000,
                       " MB for it; make the model or the batch smaller");
}

// The buffers "mask" that causal layers have in the book, (context_length, context_length), 1 above
// the diagonal: with them its modules load the file with strict=True.
void add_book_masks(const Module& layer, const std::string& prefix,
                    std::vector<TensorView>& views) {
  if (const int64_t length = saved_mask_length(layer); length > 0) {
    Array mask = Array::zeros({length, length});
    for (int64_t i = 0; i < length; ++i) {
      std::fill_n(mask.mutable_data() + i * length + i + 1, length - i - 1, real{1});
    }
    views.push_back(view(prefix + "mask", mask));
  }
  for (const auto& [name, child] : layer.children()) {
    add_book_masks(*child, prefix + name + ".", views);
  }
}

Array gradient_of(const Tensor& tensor) {
  return tensor.grad() ? tensor.grad() : Array::zeros(tensor.shape());
}

}  // namespace

std::vector<std::string> run_forward(const LayerChoice& choice, const ForwardJob& job) {
  const SafeTensors file(job.in);
  addressable("the layer", "; make the model smaller", [&] { rehearse(file, choice, job); });
  const std::unique_ptr<Module> layer = make_layer(choice);
  const Given given = read(file, layer->signature());
  if (job.weights) {
    load_parameters(*layer, *job.weights, job.ignore_extra ? Extra::ignore : Extra::refuse);
    if (job.on_loaded) job.on_loaded(*layer);
  } else if (job.trained) {
    const NoGrad off;
    std::vector<NamedParameter> to = layer->parameters(), from = job.trained->parameters();
    for (size_t k = 0; k < to.size(); ++k) {
      const Array numbers = from[k].tensor.value();
      std::copy_n(numbers.data(), numbers.size(), to[k].tensor.mutable_value());
    }
  }
  layer->train(job.train);

  std::vector<TensorView> results{view("y", run_layer(*layer, given, job.backward).value())};
  if (job.backward) {
    if (given.in.x) results.push_back(view("grad.x", gradient_of(given.in.x)));
    if (given.in.context) results.push_back(view("grad.context", gradient_of(given.in.context)));
    for (const NamedParameter& parameter : layer->parameters()) {
      results.push_back(view("grad." + parameter.name, gradient_of(parameter.tensor)));
    }
  }
  if (job.save_weights) {
    std::vector<TensorView> weights = parameter_views(*layer);
    if (job.book_buffers) add_book_masks(*layer, "", weights);
    write_safetensors(*job.save_weights, std::move(weights), {{"heedgrad", "weights"}});
  }
  std::vector<std::string> lines;
  for (const TensorView& result : results) {
    lines.push_back(text(result.name, " ", Shape(std::span<const int64_t>(result.shape))));
  }
  write_safetensors(job.out, std::move(results), {{"heedgrad", "forward"}});
  return lines;
}

}  // namespace heed
