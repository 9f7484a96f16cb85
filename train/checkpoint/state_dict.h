// Model parameters in a safetensors file, under the names of PyTorch's state_dict().
#pragma once

#include <filesystem>
#include <vector>

#include "layers/module/module.h"
#include "train/files/safetensors.h"

namespace heed {

// What load_parameters does with tensors that the model does not use.
enum class Extra { refuse, ignore };

// Fills every parameter from the tensor of the same name: F64, F32, F16 or BF16, converted to real.
// A tied parameter may be stored under any of its names, or under several with the same bytes. The
// book's CausalAttention and MultiHeadAttention register a buffer "<path>.mask" of shape
// (context_length, context_length), 1 above the diagonal; it is checked and skipped. Throws IoError
// that lists all errors, one per line; the model is then unchanged.
void load_parameters(Module& model, const SafeTensors& file, Extra extra = Extra::refuse);
void load_parameters(Module& model, const std::filesystem::path& path, Extra extra = Extra::refuse);

// Throws as load_parameters does, but changes nothing.
void check_parameters(const Module& model, const SafeTensors& file, Extra extra = Extra::refuse);

// Whether to write the book's mask buffers too, so that its modules load the file with strict=True.
enum class BookBuffers { leave_out, write };

// Every parameter under its path; a tied one once, under its first name. The views share buffers
// with the model.
std::vector<TensorView> parameter_views(const Module& model,
                                        BookBuffers buffers = BookBuffers::leave_out);
Fingerprint save_parameters(const std::filesystem::path& path, const Module& model,
                            BookBuffers buffers = BookBuffers::leave_out);

}  // namespace heed
