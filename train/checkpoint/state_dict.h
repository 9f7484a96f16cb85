// The parameters of a model in a safetensors file, under PyTorch's names: what state_dict() holds.
#pragma once

#include <filesystem>
#include <vector>

#include "layers/module/module.h"
#include "train/files/safetensors.h"

namespace heed {

// What load_parameters does about tensors that the model has no use for.
enum class Extra { refuse, ignore };

// Fills every parameter from the tensor of its name: F64, F32, F16 or BF16, converted to real.
// A tied parameter may stand under any of its names, or under several with the same bytes. The
// buffer that the book's CausalAttention and MultiHeadAttention register beside their parameters,
// "<path>.mask" (context_length, context_length), ones above the diagonal, is checked and skipped.
// Throws IoError with every mistake in a line of its own; the model is unchanged then.
void load_parameters(Module& model, const SafeTensors& file, Extra extra = Extra::refuse);
void load_parameters(Module& model, const std::filesystem::path& path, Extra extra = Extra::refuse);

// Throws as load_parameters does, and changes nothing.
void check_parameters(const Module& model, const SafeTensors& file, Extra extra = Extra::refuse);

// Whether to write the book's mask buffers too: its modules then load the file with strict=True.
enum class BookBuffers { leave_out, write };

// Every parameter under its path, a tied one once, under its first name. The views share buffers
// with the model.
std::vector<TensorView> parameter_views(const Module& model,
                                        BookBuffers buffers = BookBuffers::leave_out);
Fingerprint save_parameters(const std::filesystem::path& path, const Module& model,
                            BookBuffers buffers = BookBuffers::leave_out);

}  // namespace heed
