// Reads a constant out of a shared library as data, without loading it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace heed {

// The text (up to its first NUL) of the constant `symbol` that the shared library in `bytes`
// defines for others: 64-bit ELF in this machine's byte order, symbol table .dynsym. nullopt if
// the bytes are no such library or define no such constant. Every offset and length in the file is
// checked; any bytes may be passed.
std::optional<std::string> text_constant(std::string_view bytes, std::string_view symbol);

}  // namespace heed
