// Fills buffers with PyTorch's random numbers on the CPU: the same generator state gives the same
// numbers, and the generator is left in the same state as by PyTorch.
//
// Source: PyTorch 2.13, aten/src/ATen/native/cpu/DistributionTemplates.h. The comment of each fill
// gives the number of 32-bit words it takes from the generator. In float64 the float32 numbers are
// drawn and widened, as `net.double()` does. During a dry run (autograd/base/modes.h) fills of
// `real` draw and write nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "autograd/base/real.h"
#include "autograd/random/generator.h"

namespace heed {

// Tensor.uniform_(low, high): one word per element. ConfigError unless low <= high, both finite.
void fill_uniform(Generator& generator, std::span<real> out, double low = 0.0, double high = 1.0);

// Tensor.normal_(mean, std). Fewer than 16 elements take Generator::normal, four words a pair. 16
// or more take one word each, in blocks of 16; if 16 does not divide their number, 16 more words
// are taken and the last 16 elements are drawn again. ConfigError unless std >= 0, both finite.
void fill_normal(Generator& generator, std::span<real> out, double mean = 0.0, double std = 1.0);

// torch.randint(low, high): integers in [low, high). One word per element, two if high - low >=
// 2^28. ConfigError unless low < high.
void fill_randint(Generator& generator, std::span<int64_t> out, int64_t low, int64_t high);

// torch.randperm(n): a random order of 0 .. n - 1, n - 1 words. ConfigError unless 0 <= n <
// 2^32 / 20: PyTorch shuffles larger ones by another method.
std::vector<int64_t> randperm(Generator& generator, int64_t n);

// One epoch of DataLoader(shuffle=True) over n items: its seed, >= 0, and the order that a second
// generator draws with it. The seed takes four words for any n: two that nothing uses come first.
int64_t data_loader_seed(Generator& generator);
std::vector<int64_t> data_loader_order(int64_t seed, int64_t n);

// Takes the two words that creating an iterator of DataLoader(shuffle=False) draws and never uses.
void data_loader_unshuffled(Generator& generator);

}  // namespace heed
