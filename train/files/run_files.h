// The names of the files of a run, RUN/..., and of its checkpoints, RUN/checkpoints/step-000500/...
#pragma once

namespace heed {

// In both: the resolved config.
inline constexpr const char* stored_config = "config.yaml";

inline constexpr const char* run_metrics = "metrics.csv";
inline constexpr const char* run_samples = "samples.txt";
inline constexpr const char* run_log = "log.txt";
inline constexpr const char* run_lock = ".lock";  // held by the process that trains in the folder
inline constexpr const char* run_record = "report.json";
inline constexpr const char* run_report = "report.html";
inline constexpr const char* run_checkpoints = "checkpoints";

inline constexpr const char* stored_model = "model.safetensors";
inline constexpr const char* stored_optimizer = "optimizer.safetensors";
inline constexpr const char* stored_state = "state.safetensors";
inline constexpr const char* stored_manifest = "manifest.json";
// The tokenizer, if the config names a file for it; the vocabulary of the text that a model writes
// or continues, and of the one that it reads; a classifier's classes, by number.
inline constexpr const char* stored_tokenizer = "tokenizer.json";
inline constexpr const char* stored_vocabulary = "vocabulary.json";
inline constexpr const char* stored_source_vocabulary = "source_vocabulary.json";
inline constexpr const char* stored_classes = "classes.json";

inline constexpr const char* files_of_run[] = {stored_config, run_metrics,    run_samples,
                                               run_log,       run_lock,       run_record,
                                               run_report,    run_checkpoints};
inline constexpr const char* files_of_checkpoint[] = {
    stored_config,    stored_model,      stored_optimizer,         stored_state,  stored_manifest,
    stored_tokenizer, stored_vocabulary, stored_source_vocabulary, stored_classes};

}  // namespace heed
