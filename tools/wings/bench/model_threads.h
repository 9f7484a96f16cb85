// heed bench --model-threads: what more threads would gain.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace heed::cli {

// The numbers in "2,4,8,16". ConfigError for anything else, and beyond most_threads.
std::vector<int> read_thread_counts(const std::string& text);

// Runs step() on one thread, cut for one thread and for each of `threads`, by turns, and with that
// many threads where the machine has the cores. Prints a table, or an object with the keys
//
//   model             how many times as fast each number of threads would be as one
//   measured          the same, timed, for numbers of threads up to the cores of this machine
//   loops_per_step    shared loops, cut for the largest number
//   serial_share      of a step on one thread: outside of loops, or in loops that are not cut
//   idle              by operation, the largest first: the share of the time of the largest number
//                     of threads that they wait there
//   region_us         what a shared loop costs, by number of threads
void print_thread_model(const std::vector<int>& threads, int64_t steps, bool json,
                        const std::function<void()>& step);

}  // namespace heed::cli
