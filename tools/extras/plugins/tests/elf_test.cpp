#include "tools/extras/plugins/train/elf.h"

#include <doctest/doctest.h>
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "autograd/random/generator.h"

using namespace heed;

namespace {

// A minimal library: header, names, symbols, contents, and the table of these sections.
struct Library {
  static constexpr const char* symbol = "the_text";
  Elf64_Ehdr header{};
  std::string names = std::string("\0another\0the_text\0", 18);
  std::vector<Elf64_Sym> symbols = std::vector<Elf64_Sym>(3);
  std::string contents = std::string("....heedgrad plugin|1|\0...", 26);
  std::vector<Elf64_Shdr> sections = std::vector<Elf64_Shdr>(4);

  Library() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_DYN;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 4;
    uint64_t at = sizeof header;
    const auto place = [&](size_t index, uint32_t type, uint64_t size) {
      sections[index].sh_type = type;
      sections[index].sh_offset = at;
      sections[index].sh_size = size;
      at += size;
    };
    place(1, SHT_STRTAB, names.size());
    place(2, SHT_DYNSYM, symbols.size() * sizeof(Elf64_Sym));
    place(3, SHT_PROGBITS, contents.size());
    sections[2].sh_link = 1;
    sections[3].sh_addr = 0x1000;
    header.e_shoff = at;
    symbols[1].st_name = 1;
    symbols[2].st_name = 9;
    symbols[2].st_shndx = 3;
    symbols[2].st_value = 0x1004;
    symbols[2].st_size = 20;
  }

  std::string bytes() const {
    std::string all;
    const auto add = [&](const void* from, size_t size) {
      all.append(static_cast<const char*>(from), size);
    };
    add(&header, sizeof header);
    all += names;
    add(symbols.data(), symbols.size() * sizeof(Elf64_Sym));
    all += contents;
    add(sections.data(), sections.size() * sizeof(Elf64_Shdr));
    return all;
  }
  std::optional<std::string> found() const { return text_constant(bytes(), symbol); }
};

}  // namespace

TEST_CASE("elf: the text of a symbol that the library defines") {
  Library library;
  CHECK(library.found() == "heedgrad plugin|1|");
  CHECK(text_constant(library.bytes(), "the_tex") == std::nullopt);
  CHECK(text_constant(library.bytes(), "the_text2") == std::nullopt);
  library.symbols[2].st_size = 8;
  CHECK(library.found() == "heedgrad");
  library.symbols[2].st_size = 22;
  CHECK(library.found() == "heedgrad plugin|1|");
  library.symbols[2].st_shndx = SHN_UNDEF;  // wanted from another library
  CHECK(library.found() == std::nullopt);
  const std::string words = "heedgrad plugin|1|";
  CHECK(text_constant(words, Library::symbol) == std::nullopt);
  CHECK(text_constant("", Library::symbol) == std::nullopt);
}

TEST_CASE("elf: offsets and lengths that lead out of the file") {
  constexpr uint64_t far = std::numeric_limits<uint64_t>::max();
  using Change = void (*)(Library&, uint64_t);
  constexpr Change changes[] = {
      [](Library& l, uint64_t wrong) { l.header.e_shoff = wrong; },
      [](Library& l, uint64_t wrong) { l.header.e_shnum = static_cast<uint16_t>(wrong); },
      [](Library& l, uint64_t wrong) { l.sections[1].sh_offset = wrong; },
      [](Library& l, uint64_t wrong) { l.sections[1].sh_size = wrong; },
      [](Library& l, uint64_t wrong) { l.sections[2].sh_offset = wrong; },
      [](Library& l, uint64_t wrong) { l.sections[2].sh_size = wrong; },
      [](Library& l, uint64_t wrong) { l.sections[2].sh_link = static_cast<uint32_t>(wrong); },
      [](Library& l, uint64_t wrong) { l.sections[3].sh_offset = wrong; },
      [](Library& l, uint64_t wrong) { l.sections[3].sh_size = wrong; },
      [](Library& l, uint64_t wrong) { l.symbols[2].st_name = static_cast<uint32_t>(wrong); },
      [](Library& l, uint64_t wrong) { l.symbols[2].st_shndx = static_cast<uint16_t>(wrong); },
      [](Library& l, uint64_t wrong) { l.symbols[2].st_value = wrong; },
      [](Library& l, uint64_t wrong) { l.symbols[2].st_size = wrong; }};
  for (const uint64_t wrong : {far, far - 63, far / 2, uint64_t{1} << 40, uint64_t{600}}) {
    for (size_t i = 0; i < std::size(changes); ++i) {
      CAPTURE(i);
      Library library;
      changes[i](library, wrong);
      CHECK(library.found() == std::nullopt);
    }
  }
}

TEST_CASE("elf: cut anywhere, and with any bytes changed, it ends without a crash") {
  const std::string whole = Library().bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    CHECK(text_constant(whole.substr(0, size), Library::symbol) == std::nullopt);
  }
  Generator random(3);
  int64_t still_found = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = whole;
    for (int change = 0; change < 4; ++change) {
      bytes[random.random32() % bytes.size()] = static_cast<char>(random.random32());
    }
    still_found += text_constant(bytes, Library::symbol).has_value() ? 1 : 0;
  }
  CHECK(still_found > 100);  // in the places that do not matter
  CHECK(still_found < 19900);
}
