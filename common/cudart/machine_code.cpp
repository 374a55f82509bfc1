#include "cudart/machine_code.h"

#include <span>

#include "cudart/elf_bytes.h"
#include "cudart/fatbinary.h"

namespace warpsim::cudart {

namespace {

constexpr uint8_t kSizedForm = 4;
constexpr uint8_t kRegisterCount = 0x2F;

}  // namespace

std::map<std::string, uint32_t> registers_in_machine_code(std::span<const std::byte> file) {
  const tilewise::ElfBytes code(file);
  std::map<std::string, uint32_t> registers;
  for (const Elf64_Shdr& info : code.sections()) {
    if (code.name(info) != ".nv.info") continue;
    const Elf64_Shdr* symbols = code.link(info);
    const Elf64_Shdr* texts = symbols == nullptr ? nullptr : code.link(*symbols);
    if (texts == nullptr) continue;
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
          code.load(symbols->sh_offset + uint64_t{count.symbol} * sizeof symbol, &symbol)) {
        registers[code.text(texts->sh_offset + symbol.st_name)] = count.registers;
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
