// What a run and its continuation must have in common.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace heed {

class ConfigNode;
struct Manifest;

// Throws ConfigError, listing every difference that a resumed run may not have, between the
// resolved config read from `of_run` and `resumed`. These may change: train.steps, .max_seconds,
// .log_every, .show and .recompute, anomaly, all of eval, checkpoint and sample, and the locations
// of plugins and of data with a known fingerprint. A missing key has its default, since the run may
// be from an earlier version.
void require_resumable(const std::filesystem::path& of_run, const ConfigNode& resumed);

// Throws ConfigError, listing every difference between the configs of a checkpoint and of its run,
// resolved as `now`, that would give the weights another meaning or hold out other examples.
void require_same_model(const std::filesystem::path& of_checkpoint,
                        const std::filesystem::path& of_run, const ConfigNode& now);

// The values of a resolved config by path, without the locations of files whose contents are given
// by a fingerprint, or by LoadedRun::made_with().
std::map<std::string, std::string> values_without_locations(const ConfigNode& resolved);

// A line for each entry of LoadedRun::made_with() that was different when the checkpoint was saved.
std::vector<std::string> changes_since(const Manifest& saved,
                                       const std::map<std::string, std::string>& now);

// Whether validation losses of the run with the config `of_run` compare with those of `resumed`.
bool same_evaluations(const std::filesystem::path& of_run, const ConfigNode& resumed);

}  // namespace heed
