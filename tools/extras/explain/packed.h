// Numbers as text inside a page.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "autograd/array/array.h"

namespace heed::explain {

// Four bytes as five characters, the most significant digit first, as in Ascii85 but with an
// alphabet that needs no escape in JSON or HTML: the characters from '#' to '}' without any of
// & ' < > \ `. The last group is filled with zeros.
std::string base85(std::span<const std::byte> bytes);

// How exactly a matrix is kept.
enum class Detail {
  exact,         // as the engine has it: 32 or 64 bits a number
  sixteen_bits,  // whole numbers up to 32,767, times a factor for each row
  eight_bits,    // whole numbers up to 127, times a factor for each row
  nothing,
};

// The characters that a matrix takes.
size_t packed_size(const Array& matrix, Detail detail);

// Little-endian, the rows one after the other.
std::string packed(const Array& values);

struct PackedRows {
  std::string numbers;  // int16 or int8, the rows one after the other
  std::string factors;  // one real for each row
};
PackedRows packed_rows(const Array& matrix, Detail detail);

}  // namespace heed::explain
