#include "train/forward.h"

#include <algorithm>
#include <new>

#include "autograd/cpu.h"
#include "layers/probe.h"
#include "layers/registry.h"
#include "train/state_dict.h"

namespace heed {

namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) {
    out += (out.empty() ? "" : ", ") + word;
  }
  return out;
}

const char* values_name(const Module& layer) {
  return layer.takes() == Module::Takes::ids ? "ids" : "x";
}

// What a layer reads from a file: its input, and the cotangent of its output.
struct Given {
  Input in;
  Array dy;
};

Shape shape_of(const TensorInfo& info) { return Shape(std::span<const int64_t>(info.shape)); }

// The tensors of the file as shapes without numbers, for a dry run.
Given blanks(const SafeTensors& file, const Module& layer) {
  Given given;
  const Shape values = shape_of(file.at(values_name(layer)));
  if (layer.takes() == Module::Takes::ids) {
    given.in.ids = Ids::uninitialised(values);
  } else {
    given.in.x = Tensor::parameter(Array::uninitialised(values));
  }
  if (const TensorInfo* mask = file.find("mask")) {
    given.in.mask = Mask::uninitialised(shape_of(*mask));
  }
  if (const TensorInfo* dy = file.find("dy")) {
    given.dy = Array::uninitialised(shape_of(*dy));
  }
  return given;
}

Given read(const SafeTensors& file, const Module& layer) {
  Given given;
  if (layer.takes() == Module::Takes::ids) {
    given.in.ids = file.ids("ids");
  } else {
    given.in.x = Tensor::parameter(file.array("x"));
  }
  if (file.find("mask") != nullptr) {
    given.in.mask = file.mask("mask");
  }
  if (file.find("dy") != nullptr) {
    given.dy = file.array("dy");
  }
  return given;
}

void check_names(const SafeTensors& file, Module& layer, const std::string& type,
                 const std::string& path) {
  const std::string values = values_name(layer);
  std::vector<std::string> allowed{values, "dy"};
  require<IoError>(file.find(values) != nullptr, path, ": expected a tensor ", values, ", ",
                   values == "x" ? "numbers (B, T, d)" : "token ids (B, T)", " for the ", type,
                   ", got ", file.names().empty() ? "none" : joined(file.names()));
  const bool unknown_mask = [&] {
    Input without_mask = blanks(file, layer).in;
    without_mask.mask = {};
    layer(without_mask);  // its own message for a wrong shape
    return !takes_mask(layer, without_mask);
  }();
  if (!unknown_mask) {
    allowed.push_back("mask");
  }
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
  if (y.requires_grad()) {
    y.backward(given.dy ? given.dy : Array::full(y.shape(), 1));
  }
  return y.detach();
}

// Names and shapes before any number is read, and whether there is memory for all of it.
void rehearse(const SafeTensors& file, const LayerSpec& spec, const ForwardJob& job) {
  const DryRun dry;
  const int64_t before = pool::stats().live_bytes;
  const std::unique_ptr<Module> layer = make_layer(spec);
  check_names(file, *layer, spec.type, job.in.string());
  run_layer(*layer, blanks(file, *layer), job.backward);
  const int64_t needed = pool::stats().peak_bytes - before;
  const int64_t available = memory().available;
  require<ConfigError>(needed <= available, "the layer needs about ", needed / 1'000'000,
                       " MB of memory for this input, this machine has ", available / 1'000'000,
                       " MB for it; make the model or the batch smaller");
}

Array gradient_of(const Tensor& tensor) {
  return tensor.grad() ? tensor.grad() : Array::zeros(tensor.shape());
}

}  // namespace

std::vector<std::string> run_forward(const LayerSpec& spec, const ForwardJob& job) {
  const SafeTensors file(job.in);
  try {
    rehearse(file, spec, job);
  } catch (const std::bad_alloc&) {
    fail<ConfigError>("the layer needs more memory than any machine can address; make the model ",
                      "smaller");
  }
  const std::unique_ptr<Module> layer = make_layer(spec);
  const Given given = read(file, *layer);
  if (job.weights) {
    load_parameters(*layer, *job.weights, job.ignore_extra ? Extra::ignore : Extra::refuse);
  }
  layer->train(job.train);

  std::vector<TensorView> results{view("y", run_layer(*layer, given, job.backward).value())};
  if (job.backward) {
    if (given.in.x) {
      results.push_back(view("grad.x", gradient_of(given.in.x)));
    }
    for (const NamedParameter& parameter : layer->parameters()) {
      results.push_back(view("grad." + parameter.name, gradient_of(parameter.tensor)));
    }
  }
  if (job.save_weights) {
    save_parameters(*job.save_weights, *layer,
                    job.book_buffers ? BookBuffers::write : BookBuffers::leave_out);
  }
  std::vector<std::string> lines;
  for (const TensorView& result : results) {
    lines.push_back(text(result.name, " ", Shape(std::span<const int64_t>(result.shape))));
  }
  write_safetensors(job.out, std::move(results));
  return lines;
}

}  // namespace heed
