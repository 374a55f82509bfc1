#include "cudart/machine_code.h"

#include <elf.h>

#include <cstring>
#include <vector>

#include "cudart/fatbinary.h"

namespace warpsim::cudart {

namespace {

constexpr uint8_t kSizedForm = 4;
constexpr uint8_t kRegisterCount = 0x2F;

class MachineCode {
 public:
  explicit MachineCode(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename T>
  bool load(uint64_t offset, T* value) const {
    if (offset > bytes_.size() || sizeof(T) > bytes_.size() - offset) return false;
    std::memcpy(value, bytes_.data() + offset, sizeof(T));
    return true;
  }
  // The zero-terminated text at `offset`, empty if that lies outside the file.
  std::string text(uint64_t offset) const {
    if (offset >= bytes_.size()) return "";
    const char* first = reinterpret_cast<const char*>(bytes_.data()) + offset;
    return {first, strnlen(first, bytes_.size() - offset)};
  }
  // The sections; empty if this is no ELF file of the right kind.
  std::vector<Elf64_Shdr> sections(uint32_t* names) const {
    Elf64_Ehdr header;
    if (!load(0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64)
      return {};
    *names = header.e_shstrndx;
    std::vector<Elf64_Shdr> sections;
    Elf64_Shdr section;
    for (uint64_t i = 0; i < header.e_shnum; ++i) {
      if (load(header.e_shoff + i * header.e_shentsize, &section)) sections.push_back(section);
    }
    return sections;
  }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace

std::map<std::string, uint32_t> registers_in_machine_code(std::span<const std::byte> file) {
  const MachineCode code(file);
  uint32_t names = 0;
  const std::vector<Elf64_Shdr> sections = code.sections(&names);
  if (names >= sections.size()) return {};
  std::map<std::string, uint32_t> registers;
  for (const Elf64_Shdr& info : sections) {
    if (code.text(sections[names].sh_offset + info.sh_name) != ".nv.info" ||
        info.sh_link >= sections.size())
      continue;
    const Elf64_Shdr& symbols = sections[info.sh_link];
    if (symbols.sh_link >= sections.size()) continue;
    struct Head {
      uint8_t form, attribute;
      uint16_t size;
    } head;
    struct Count {
      uint32_t symbol, registers;
    } count;
    for (uint64_t at = 0; at < info.sh_size && code.load(info.sh_offset + at, &head);) {
      at += sizeof head;
      Elf64_Sym symbol;
      if (head.form == kSizedForm && head.attribute == kRegisterCount &&
          code.load(info.sh_offset + at, &count) &&
          code.load(symbols.sh_offset + uint64_t{count.symbol} * sizeof symbol, &symbol)) {
        registers[code.text(sections[symbols.sh_link].sh_offset + symbol.st_name)] =
            count.registers;
      }
      if (head.form == kSizedForm) at += head.size;
    }
  }
  return registers;
}

std::map<std::string, uint32_t> registers_of_wrapper(const void* wrapper,
                                                     uint32_t compute_capability) {
  try {
    std::map<std::string, uint32_t> registers;
    for (const FatBinaryEntry& entry : read_entries(container_of_wrapper(wrapper))) {
      if (entry.kind == FatBinaryEntry::Kind::kMachineCode &&
          entry.compute_capability == compute_capability) {
        const std::string file = bytes_of(entry);
        registers.merge(registers_in_machine_code(std::as_bytes(std::span(file))));
      }
    }
    return registers;
  } catch (const FatBinaryError&) {
    return {};  // ptxas is asked
  }
}

}  // namespace warpsim::cudart
