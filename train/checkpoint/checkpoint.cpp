#include "train/checkpoint/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "autograd/base/rethrow.h"
#include "train/checkpoint/state_dict.h"
#include "train/files/run_files.h"
#include "train/files/safetensors.h"

namespace heed {

namespace fs = std::filesystem;

namespace {

constexpr const char* best_link = "best";
constexpr std::string_view step_prefix = "step-";

// ---- Folders

struct Step {
  int64_t number = 0;
  fs::path folder;

  bool operator==(const Step&) const = default;
};

// The step in a folder name; nullopt for any name that step_name() does not produce.
std::optional<int64_t> step_number(const fs::path& folder) {
  const std::string name = folder.filename().string();
  int64_t step = 0;
  if (name.starts_with(step_prefix)) {
    std::from_chars(name.data() + step_prefix.size(), name.data() + name.size(), step);
  }
  return step_name(step) == name ? std::optional(step) : std::nullopt;
}

fs::path checkpoints_of(const fs::path& run) { return run / run_checkpoints; }

// Whether an absolute path is a checkpoint. A run may have any name, so this depends on what the
// folder holds or, if its manifest is missing, on where it is.
bool is_checkpoint(const fs::path& folder) {
  return is_there(folder / stored_manifest) ||
         (step_number(folder) && folder.parent_path().filename() == run_checkpoints &&
          !is_there(folder / run_metrics));
}

// Absolute, without a trailing slash; of the link `checkpoints/best`, its target, which lies beside
// it.
fs::path absolute_folder(const fs::path& argument) {
  std::error_code error;
  const fs::path path = fs::absolute(argument).lexically_normal();
  const fs::path folder = path.has_filename() ? path : path.parent_path();
  if (!fs::is_symlink(folder, error) || folder.filename() != best_link ||
      folder.parent_path().filename() != run_checkpoints) {
    return folder;
  }
  const fs::path target = fs::read_symlink(folder, error);
  require<IoError>(step_number(target) && !target.has_parent_path(), folder.string(),
                   ": expected a link to a step-* beside it, got one to ", target.string());
  return folder.parent_path() / target;
}

std::vector<Step> steps_newest_first(const fs::path& run) {
  std::vector<Step> steps;
  std::error_code error;
  for (fs::directory_iterator at(checkpoints_of(run), error), end; !error && at != end;
       at.increment(error)) {
    if (const std::optional<int64_t> number = step_number(at->path())) {
      steps.push_back({*number, at->path()});
    }
  }
  require<IoError>(!error || error == std::errc::no_such_file_or_directory,
                   checkpoints_of(run).string(), ": cannot read the folder: ", error.message());
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return a.number > b.number; });
  return steps;
}

Manifest check_checkpoint(const fs::path& folder, Check check) {
  const Manifest manifest = read_manifest(folder);
  const std::optional<int64_t> number = step_number(folder);
  require<IoError>(!number || *number == manifest.step, folder.string(),
                   ": damaged: its manifest is that of step ", manifest.step);
  for (const char* needed : {stored_model, stored_state, stored_config}) {
    require<IoError>(manifest.files.contains(needed), folder.string(),
                     ": damaged: its manifest lacks ", needed);
  }
  check_files(folder, manifest, check);
  return manifest;
}

// "" if the checkpoint is intact, else what is wrong.
std::string damage(const fs::path& folder, Check check) {
  return error_of<IoError>([&] { check_checkpoint(folder, check); }).value_or("");
}

// ---- The optimizer

// Calls visit(name, array) for every array of the optimizer's state.
template <class Visit>
void for_each_state(Optimizer& optimizer, Visit&& visit) {
  for (const auto& [kind, arrays] : optimizer.state()) {
    for (size_t k = 0; k < arrays->size(); ++k) {
      if ((*arrays)[k]) visit(kind + "." + optimizer.parameters()[k].name, (*arrays)[k]);
    }
  }
}

void check_optimizer(const SafeTensors& file, Optimizer& optimizer, std::optional<int64_t> step) {
  constexpr Dtype real_dtype = is_float64 ? Dtype::F64 : Dtype::F32;
  size_t expected = 1;
  for_each_state(optimizer, [&](const std::string& name, const Array& array) {
    const TensorInfo& info = file.at(name);
    ++expected;
    const auto dims = array.shape().dims();
    require<IoError>(std::equal(info.shape.begin(), info.shape.end(), dims.begin(), dims.end()) &&
                         info.dtype == real_dtype,
                     file.path(), ": tensor \"", name, "\": expected ", dtype_name(real_dtype),
                     " of shape ", array.shape());
  });
  require<IoError>(file.tensors().size() == expected, file.path(), ": expected the ", expected,
                   " tensors of this optimizer, got ", file.tensors().size());
  require<IoError>(file.at("step").shape.empty(), file.path(),
                   ": tensor \"step\": expected one number");
  const int64_t steps = file.integers("step").front();
  require<IoError>(steps == step.value_or(steps), file.path(), ": tensor \"step\": expected ",
                   step.value_or(0), ", got ", steps);
}

}  // namespace

std::string step_name(int64_t step) {
  const std::string digits = std::to_string(step);
  return text(step_prefix, std::string(digits.size() < 6 ? 6 - digits.size() : 0, '0'), digits);
}

Fingerprint save_optimizer(const fs::path& path, Optimizer& optimizer) {
  const int64_t steps = optimizer.steps();
  std::vector<TensorView> tensors;
  tensors.push_back({"step", Dtype::I64, {}, std::as_bytes(std::span(&steps, 1))});
  for_each_state(optimizer, [&](const std::string& name, const Array& array) {
    tensors.push_back(view(name, array));
  });
  return write_safetensors(path, std::move(tensors));
}

void load_optimizer(Optimizer& optimizer, const fs::path& path, std::optional<int64_t> step) {
  const SafeTensors file(path);
  check_optimizer(file, optimizer, step);
  for_each_state(optimizer, [&](const std::string& name, Array& array) {
    file.copy(name, {array.mutable_data(), static_cast<size_t>(array.size())});
  });
  optimizer.set_steps(file.integers("step").front());
}

// ---- Writing

fs::path save_checkpoint(const fs::path& run, const Module& model, Optimizer* optimizer,
                         const TrainingState& state,
                         const std::map<std::string, std::string>& texts, const Retention& keep,
                         const std::map<std::string, std::string>& made_with,
                         const MoreFiles& more) {
  require<Error>(state.step >= 0, "save_checkpoint: expected a step >= 0, got ", state.step);
  const fs::path folder = checkpoints_of(run) / step_name(state.step);
  require_no_link(checkpoints_of(run));
  std::error_code error;
  fs::create_directory(checkpoints_of(run), error);
  require<IoError>(!error, checkpoints_of(run).string(),
                   ": cannot make the folder: ", error.message());
  remove_leftovers(checkpoints_of(run));
  write_folder_atomically(folder, [&](const fs::path& inside) {
    Manifest manifest{.version = HEED_VERSION,
                      .precision = precision_name,
                      .step = state.step,
                      .made_with = made_with,
                      .seconds = state.seconds};
    manifest.files[stored_state] = write_state(inside, state);
    for (const auto& [name, contents] : texts) {
      manifest.files[name] = write_file_atomically(inside / name, contents);
    }
    manifest.files[stored_model] = save_parameters(inside / stored_model, model);
    if (optimizer != nullptr) {
      manifest.files[stored_optimizer] = save_optimizer(inside / stored_optimizer, *optimizer);
    }
    if (more) more(inside, manifest.files);
    write_manifest(inside, manifest);
  });
  prune_checkpoints(run, state.step, keep);
  return folder;
}

namespace {

// Points the link checkpoints/best to the best checkpoint, or removes the link if that checkpoint
// is missing. Does nothing on file systems without symbolic links.
void link_best(const fs::path& run, const std::optional<int64_t>& best) {
  const fs::path link = checkpoints_of(run) / best_link;
  const std::string target = best ? step_name(*best) : "";
  std::error_code ignored;
  if (!best || !damage(checkpoints_of(run) / target, Check::sizes).empty()) {
    if (fs::is_symlink(link, ignored)) {
      fs::remove(link, ignored);
    }
  } else if (fs::read_symlink(link, ignored) != target) {
    error_of<IoError>([&] { replace_link(link, target); });  // it is only a shortcut
  }
}

// Removes a checkpoint. Of a link only the link: what it points to is not the run's.
void remove_checkpoint(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_symlink(folder, ignored)) {
    // The manifest goes first: if the removal is interrupted, the rest is no valid checkpoint.
    fs::remove(folder / stored_manifest, ignored);
  }
  fs::remove_all(folder, ignored);
}

}  // namespace

void prune_checkpoints(const fs::path& run, int64_t step, const Retention& keep) {
  require_no_link(checkpoints_of(run));
  const fs::path newest = checkpoints_of(run) / step_name(step);
  if (!damage(newest, Check::contents).empty()) {
    return;
  }
  link_best(run, keep.best);
  int64_t kept = 0;
  for (const Step& each : steps_newest_first(run)) {
    const bool wanted =
        each.number <= step && (kept < keep.newest || (keep.best && each.number == *keep.best));
    const bool stays = each.number == step || (wanted && damage(each.folder, Check::sizes).empty());
    kept += stays ? 1 : 0;
    if (!stays) {
      remove_checkpoint(each.folder);
    }
  }
}

std::string going_back(const fs::path& run, int64_t step) {
  std::vector<Step> later = steps_newest_first(run);
  std::erase_if(later, [&](const Step& each) { return each.number <= step; });
  if (later.empty()) {
    return "";
  }
  const std::string first = step_name(later.back().number), last = step_name(later.front().number);
  return text("going back to step ", step, ": removes ", first,
              later.size() == 1 ? "" : text(" to ", last, ", ", later.size(), " checkpoints"),
              ", and the rows and samples after step ", step);
}

fs::path config_of_checkpoint(const fs::path& checkpoint) {
  check_checkpoint(checkpoint, Check::contents);
  return checkpoint / stored_config;
}

bool never_saved(const fs::path& run) {
  return is_there(run / stored_config) && !is_checkpoint(absolute_folder(run)) &&
         steps_newest_first(run).empty();
}

// ---- Finding

namespace {

// The first intact one, or null. What is wrong with those before it goes to `damaged`.
const Step* first_good(const std::vector<Step>& steps, std::vector<std::string>& damaged) {
  damaged.clear();
  for (const Step& each : steps) {
    const std::string wrong = damage(each.folder, Check::contents);
    if (wrong.empty()) {
      return &each;
    }
    damaged.push_back(wrong);
  }
  return nullptr;
}

}  // namespace

fs::path newest_good_checkpoint(const fs::path& run, std::vector<std::string>& warnings) {
  std::vector<std::string> damaged;
  std::vector<Step> steps;
  const Step* good = nullptr;
  // Looks again if a process that trains has meanwhile removed what is damaged.
  do {
    steps = steps_newest_first(run);
    good = first_good(steps, damaged);
    if (good != nullptr && damaged.empty()) {
      return good->folder;
    }
  } while (steps != steps_newest_first(run));
  if (good != nullptr) {
    for (const std::string& message : damaged) {
      warnings.push_back(text(message, "; using ", good->folder.filename().string()));
    }
    return good->folder;
  }
  require<IoError>(!damaged.empty(), run.string(),
                   ": no checkpoint yet: expected a folder checkpoints/step-*");
  fail<IoError>(damaged.front(), "; ", run.string(), " has no checkpoint that is whole");
}

RunArgument parse_run(const fs::path& argument) {
  require<IoError>(!argument.empty(),
                   "expected a run folder, or checkpoints/step-* in one, got an empty name");
  std::error_code error;
  const fs::file_status status = fs::status(argument, error);
  require<IoError>(fs::is_directory(status), argument.string(),
                   ": expected a run folder, or checkpoints/step-* in one: ",
                   error ? error.message() : "not a folder");
  const fs::path folder = absolute_folder(argument);
  if (!is_checkpoint(folder)) {
    return {argument.has_filename() ? argument : argument.parent_path(), {}};
  }
  const fs::path above = folder.parent_path(), run = above.parent_path();
  const bool in_run = above.filename() == run_checkpoints && is_there(run / stored_config);
  return {in_run ? run : folder, folder};
}

RunArgument resolve_run(const fs::path& argument, std::vector<std::string>& warnings) {
  RunArgument found = parse_run(argument);
  if (found.checkpoint.empty()) {
    found.checkpoint = newest_good_checkpoint(found.run, warnings);
  }
  return found;
}

// ---- Reading

TrainingState load_checkpoint(const fs::path& checkpoint, Module& model, Optimizer* optimizer) {
  const Manifest manifest = check_checkpoint(checkpoint, Check::contents);
  TrainingState state = read_state(checkpoint);
  state.seconds = manifest.seconds;
  require<IoError>(state.step == manifest.step, checkpoint.string(),
                   ": damaged: its state is of step ", state.step, ", the manifest of step ",
                   manifest.step);
  const SafeTensors weights(checkpoint / stored_model);
  check_parameters(model, weights);
  if (optimizer != nullptr) {
    require<IoError>(manifest.precision == precision_name, checkpoint.string(), ": trained in ",
                     manifest.precision, ", cannot continue in ", precision_name);
    require<IoError>(manifest.files.contains(stored_optimizer), checkpoint.string(),
                     ": holds no optimizer state to continue with (checkpoint.optimizer_state was "
                     "false)");
    load_optimizer(*optimizer, checkpoint / stored_optimizer, state.step - state.left_out);
  }
  load_parameters(model, weights);
  return state;
}

}  // namespace heed
