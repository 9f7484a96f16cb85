#include "tools/extras/plugins/train/elf.h"

#include <elf.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

namespace heed {

namespace {

// The part [offset, offset + size) of the bytes; nullopt if they end before.
std::optional<std::string_view> part(std::string_view bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) {
    return std::nullopt;
  }
  return bytes.substr(offset, size);
}

// A copy, since the bytes need not be aligned. `index` counts records from `offset`.
template <class Record>
std::optional<Record> record(std::string_view bytes, uint64_t offset, uint64_t index = 0) {
  if (index > bytes.size() / sizeof(Record)) {
    return std::nullopt;
  }
  const uint64_t before = index * sizeof(Record);
  const auto table = part(bytes, offset, before + sizeof(Record));
  if (!table) {
    return std::nullopt;
  }
  Record copy;
  std::memcpy(&copy, table->data() + before, sizeof copy);
  return copy;
}

bool is_shared_library(const Elf64_Ehdr& header) {
  const unsigned char own_order =
      std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == own_order &&
         header.e_type == ET_DYN && header.e_shentsize == sizeof(Elf64_Shdr);
}

std::vector<Elf64_Shdr> sections_of(std::string_view bytes, const Elf64_Ehdr& header) {
  std::vector<Elf64_Shdr> sections;
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = record<Elf64_Shdr>(bytes, header.e_shoff, i);
    if (!section) {
      return {};
    }
    sections.push_back(*section);
  }
  return sections;
}

// The symbol of this name in one symbol table, if the library defines it.
std::optional<Elf64_Sym> find_symbol(std::string_view bytes, const Elf64_Shdr& table,
                                     const Elf64_Shdr& names, std::string_view symbol) {
  const auto entries = part(bytes, table.sh_offset, table.sh_size);
  const auto strings = part(bytes, names.sh_offset, names.sh_size);
  if (!entries || !strings) {
    return std::nullopt;
  }
  for (uint64_t i = 0; i < entries->size() / sizeof(Elf64_Sym); ++i) {
    const auto entry = record<Elf64_Sym>(*entries, 0, i);
    const bool defined = entry && entry->st_shndx != SHN_UNDEF;
    const auto name = defined ? part(*strings, entry->st_name, symbol.size() + 1) : std::nullopt;
    if (name && name->substr(0, symbol.size()) == symbol && name->back() == '\0') {
      return entry;
    }
  }
  return std::nullopt;
}

// The contents of a symbol, as the file stores them. nullopt if it has none there (.bss).
std::optional<std::string_view> contents_of(std::string_view bytes, const Elf64_Sym& symbol,
                                            const std::vector<Elf64_Shdr>& sections) {
  if (symbol.st_shndx >= sections.size()) {
    return std::nullopt;
  }
  const Elf64_Shdr& home = sections[symbol.st_shndx];
  const auto section = part(bytes, home.sh_offset, home.sh_size);
  if (home.sh_type != SHT_PROGBITS || !section || symbol.st_value < home.sh_addr) {
    return std::nullopt;
  }
  return part(*section, symbol.st_value - home.sh_addr, symbol.st_size);
}

}  // namespace

std::optional<std::string> text_constant(std::string_view bytes, std::string_view symbol) {
  const auto header = record<Elf64_Ehdr>(bytes, 0);
  if (!header || !is_shared_library(*header)) {
    return std::nullopt;
  }
  const std::vector<Elf64_Shdr> sections = sections_of(bytes, *header);
  const auto table = std::find_if(sections.begin(), sections.end(), [](const Elf64_Shdr& section) {
    return section.sh_type == SHT_DYNSYM;
  });
  if (table == sections.end() || table->sh_link >= sections.size()) {
    return std::nullopt;
  }
  const auto found = find_symbol(bytes, *table, sections[table->sh_link], symbol);
  const auto contents = found ? contents_of(bytes, *found, sections) : std::nullopt;
  return contents ? std::optional(std::string(contents->substr(0, contents->find('\0'))))
                  : std::nullopt;
}

}  // namespace heed
