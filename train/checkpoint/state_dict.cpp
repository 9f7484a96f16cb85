#include "train/checkpoint/state_dict.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "autograd/base/error.h"
#include "layers/causal_attention.h"
#include "layers/multi_head_attention.h"
#include "train/files/tensor_mistakes.h"

namespace heed {

namespace {

// A parameter and all its names, of which a tied one has more than one; or a buffer.
struct Slot {
  std::vector<std::string> names;
  Tensor tensor;
};

struct Inventory {
  std::vector<Slot> slots;
  std::vector<std::pair<std::string, int64_t>> masks;  // the book's, with their side
};

void add_buffers(const Module& layer, const std::string& prefix, Inventory& found) {
  for (const Buffer* buffer : layer.own_buffers()) {
    found.slots.push_back({{prefix + buffer->name()}, buffer->tensor()});
  }
  if (const int64_t length = saved_mask_length(layer); length > 0) {
    found.masks.emplace_back(prefix + "mask", length);
  }
  for (const auto& [name, child] : layer.children()) {
    add_buffers(*child, prefix + name + ".", found);
  }
}

Inventory inventory(const Module& model) {
  Inventory found;
  std::map<const void*, size_t> slot_of;
  model.for_each_parameter([&](const std::string& name, Parameter& parameter) {
    if (!parameter.is_stored()) return;
    const auto [at, is_new] = slot_of.try_emplace(parameter.identity(), found.slots.size());
    if (is_new) {
      found.slots.push_back({{}, parameter.tensor()});
    }
    found.slots[at->second].names.push_back(name);
  });
  add_buffers(model, "", found);
  return found;
}

// Compares a file with a model and assigns tensors to parameters.
class Matcher {
 public:
  // Leaves out what is ignored, on both sides.
  Matcher(const Module& model, const SafeTensors& file, const Ignored& ignored)
      : file_(file), model_(inventory(model)), mistakes_(file.path()) {
    std::set<std::string> known;
    for (const Slot& slot : model_.slots) {
      known.insert(slot.names.begin(), slot.names.end());
    }
    for (const auto& mask : model_.masks) known.insert(mask.first);
    for (const TensorInfo& info : file_.tensors()) {
      if (!known.contains(info.name) && !ignored(info.name)) {
        unused_.push_back(info.name);
      }
    }
    std::erase_if(model_.slots, [&](const Slot& slot) {
      return std::any_of(slot.names.begin(), slot.names.end(), ignored);
    });
  }

  void check(Extra extra) {
    for (const Slot& slot : model_.slots) {
      check_slot(slot);
    }
    for (const auto& [name, length] : model_.masks) {
      check_mask(name, length);
    }
    if (extra == Extra::refuse) {
      check_unused();
    }
    mistakes_.throw_if_any();
  }

  void load() {
    for (Slot& slot : model_.slots) {
      const auto name = std::find_if(slot.names.begin(), slot.names.end(),
                                     [&](const std::string& n) { return file_.find(n); });
      file_.copy(*name, {slot.tensor.mutable_value(), static_cast<size_t>(slot.tensor.size())});
    }
  }

 private:
  void check_slot(const Slot& slot) {
    const TensorInfo* first = nullptr;
    bool missing = true;
    for (const std::string& name : slot.names) {
      const TensorInfo* info = file_.find(name);
      missing = missing && info == nullptr;
      if (info != nullptr && fits(*info, slot.tensor.shape())) {
        first = first != nullptr ? first : info;
        check_same(*first, *info);
      }
    }
    if (missing) {
      mistakes_.add([&] { return missing_text(slot); });
      missing_.push_back(slot.names.front());
    }
  }

  std::string missing_text(const Slot& slot) const {
    const std::string begin =
        text(slot.names.front(), ": missing, expected shape ", slot.tensor.shape());
    const std::string near = nearest(slot.names.front(), unused_);
    return near.empty() ? begin
                        : text(begin, "; the file has ", near, " of shape ",
                               shape_text(file_.at(near).shape));
  }

  bool fits(const TensorInfo& info, const Shape& shape) {
    std::vector<int64_t> wanted(shape.dims().begin(), shape.dims().end());
    if (!is_float(info.dtype)) {
      mistakes_.add([&] {
        return text(info.name, ": expected F64, F32, F16 or BF16, got ", dtype_name(info.dtype));
      });
      return false;
    }
    if (info.shape != wanted) {
      mistakes_.add([&] {
        const std::string begin =
            text(info.name, ": expected shape ", shape, ", got ", shape_text(info.shape));
        std::reverse(wanted.begin(), wanted.end());
        return info.shape == wanted ? begin + ": transposed" : begin;
      });
      return false;
    }
    return true;
  }

  // Several names of one tied parameter must have the same contents.
  void check_same(const TensorInfo& first, const TensorInfo& info) {
    const bool same = &first == &info || (first.dtype == info.dtype &&
                                          file_.bytes(first.name) == file_.bytes(info.name));
    if (!same) {
      mistakes_.add(
          [&] { return text(info.name, ": differs from ", first.name, ", to which it is tied"); });
    }
  }

  void check_mask(const std::string& name, int64_t length) {
    const TensorInfo* info = file_.find(name);
    if (info == nullptr) {
      return;
    }
    if (info->shape != std::vector<int64_t>{length, length}) {
      mistakes_.add([&] {
        return text(info->name, ": expected shape (", length, ", ", length,
                    ") as context_length says, got ", shape_text(info->shape));
      });
    } else if (!(is_float(info->dtype) ? is_causal(file_.array(name))
                                       : is_causal(file_.mask(name)))) {
      mistakes_.add([&] {
        return text(info->name, ": expected ones above the diagonal and zeros elsewhere");
      });
    }
  }

  // mask[i][j] == 1 where token i must not see token j: j > i.
  template <class T>
  static bool is_causal(const BasicArray<T>& mask) {
    const int64_t length = mask.dim(0);
    const T* at = mask.data();
    for (int64_t k = 0; k < mask.size(); ++k) {
      if (at[k] != static_cast<T>(k % length > k / length ? 1 : 0)) return false;
    }
    return true;
  }

  void check_unused() {
    for (const std::string& name : unused_) {
      mistakes_.add([&] { return name + ": not in the model" + did_you_mean(name, missing_); });
    }
  }

  const SafeTensors& file_;
  Inventory model_;
  TensorMistakes mistakes_;
  std::vector<std::string> unused_;   // names in the file that the model does not use
  std::vector<std::string> missing_;  // parameters that are not in the file
};

}  // namespace

int64_t saved_mask_length(const Module& layer) {
  const auto* const one = dynamic_cast<const CausalAttention*>(&layer);
  const auto* const heads = dynamic_cast<const MultiHeadAttention*>(&layer);
  if (one != nullptr) return one->config.context_length;
  return heads != nullptr && heads->config.causal ? heads->config.context_length : 0;
}

void check_parameters(const Module& model, const SafeTensors& file, Extra extra,
                      const Ignored& ignored) {
  Matcher(model, file, ignored).check(extra);
}

void load_parameters(Module& model, const SafeTensors& file, Extra extra, const Ignored& ignored) {
  const NoGrad off;
  Matcher matcher(model, file, ignored);
  matcher.check(extra);
  matcher.load();
}

void load_parameters(Module& model, const std::filesystem::path& path, Extra extra) {
  load_parameters(model, SafeTensors(path), extra);
}

std::vector<TensorView> parameter_views(const Module& model) {
  std::vector<TensorView> views;
  for (const Slot& slot : inventory(model).slots) {
    views.push_back(view(slot.names.front(), slot.tensor.value()));
  }
  return views;
}

Fingerprint save_parameters(const std::filesystem::path& path, const Module& model) {
  return write_safetensors(path, parameter_views(model));
}

}  // namespace heed
