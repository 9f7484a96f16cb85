// The temporaries in which files and folders are written before they get their names,
// ".heed-tmp-<process>-<number>". Part of train/files/files.h.
#pragma once

#include <filesystem>
#include <functional>

namespace heed {

// Calls make(candidate), which returns 0 or an errno, with new names next to `target` until one is
// free. First removes what earlier processes have left there.
std::filesystem::path make_temporary(
    const std::filesystem::path& target,
    const std::function<int(const std::filesystem::path& candidate)>& make);

// Whether a path lies in one.
bool is_temporary(const std::filesystem::path& path);

// Marks a temporary, a file or a folder, as being written for as long as `descriptor` is open. A
// process on another machine may share the folder, and cannot tell from our number that we live.
void mark_as_written(int descriptor);

}  // namespace heed
