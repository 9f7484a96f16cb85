// Files of token ids, little-endian, of 16 or 32 bits each, and nothing else: what is taken for one
// by mistake is recognised by the bytes at its beginning.
#pragma once

#include <optional>
#include <string>

#include "train/files/files.h"

namespace heed {

// What a file is, if it is no file of ids, and how to make one: "a Python pickle: ...". "" for ids.
std::string instead_of_ids(Bytes file);

// Whether ids of 16 bits look like ids of 8: low and high bytes are distributed alike, over few
// values. Fewer than 1,000 bytes besides 0 say nothing.
bool are_ids_of_8_bits(Bytes file);
inline constexpr const char* what_8_bits_are =
    "expected ids of 16 bits, got what looks like ids of 8: in Python, numpy.fromfile(path, "
    "'uint8').astype('uint16').tofile(other) writes them";

// Which one of every two numbers of `size` bytes is 0, if not all are. The second: ids of twice as
// many bits. The first: no such ids, but floats, or bytes in the other order. Fewer than 16 numbers
// say nothing.
enum class Zeros { first, second };
std::optional<Zeros> every_second_zero(Bytes file, size_t size);
inline constexpr const char* first_is_zero = "floats, or ids with the high byte first?";

}  // namespace heed
