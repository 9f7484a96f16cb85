// Model parameters and buffers in a safetensors file, under the names of PyTorch's state_dict():
// all but what is left out (Parameter::leave_out).
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "layers/module/module.h"
#include "train/files/safetensors.h"

namespace heed {

// What load_parameters does with tensors that the model does not use.
enum class Extra { refuse, ignore };

using Ignored = std::function<bool(const std::string& name)>;
inline bool nothing_ignored(const std::string&) { return false; }

// Fills every parameter and buffer from the tensor of the same name: F64, F32, F16 or BF16,
// converted to real. A tied parameter may be stored under any of its names, or under several with
// the same bytes. The book's "<path>.mask" (see below) is checked and skipped. Throws IoError that
// lists all errors, one per line; the model is then unchanged.
//
// Parameters and tensors whose name `ignored` returns true for are left alone.
void load_parameters(Module& model, const SafeTensors& file, Extra extra = Extra::refuse,
                     const Ignored& ignored = nothing_ignored);
void load_parameters(Module& model, const std::filesystem::path& path, Extra extra = Extra::refuse);

// Throws as load_parameters does, but changes nothing.
void check_parameters(const Module& model, const SafeTensors& file, Extra extra = Extra::refuse,
                      const Ignored& ignored = nothing_ignored);

// The book's CausalAttention and MultiHeadAttention register a buffer "mask" of shape
// (context_length, context_length), 1 above the diagonal. Its side; 0 for a layer without one.
int64_t saved_mask_length(const Module& layer);

// Every parameter under its path; a tied one once, under its first name; then the buffers. The
// views share buffers with the model.
std::vector<TensorView> parameter_views(const Module& model);
Fingerprint save_parameters(const std::filesystem::path& path, const Module& model);

}  // namespace heed
