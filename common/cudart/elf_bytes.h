// The bytes of a 64-bit ELF file, which may be damaged: what lies outside is not read.

#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace tilewise {

class ElfBytes {
 public:
  explicit ElfBytes(std::span<const std::byte> bytes) : bytes_(bytes) {
    is_elf_ = load(0, &header_) && std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0 &&
              header_.e_ident[EI_CLASS] == ELFCLASS64 && header_.e_ident[EI_DATA] == ELFDATA2LSB;
    if (!is_elf_) return;
    Elf64_Shdr section;
    for (uint64_t i = 0; i < header_.e_shnum; ++i) {
      if (!load(header_.e_shoff + i * header_.e_shentsize, &section)) break;
      sections_.push_back(section);
    }
  }

  // 64 bits, little-endian.
  bool is_elf() const { return is_elf_; }

  // False, and nothing done, where the value is not all inside.
  template <typename T>
  bool load(uint64_t offset, T* value) const {
    if (offset > bytes_.size() || sizeof(T) > bytes_.size() - offset) return false;
    std::memcpy(value, bytes_.data() + offset, sizeof(T));
    return true;
  }

  // The zero-terminated text at `offset`, empty if that lies outside.
  std::string text(uint64_t offset) const {
    if (offset >= bytes_.size()) return "";
    const char* first = reinterpret_cast<const char*>(bytes_.data()) + offset;
    return {first, strnlen(first, bytes_.size() - offset)};
  }

  const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  std::string name(const Elf64_Shdr& section) const {
    const Elf64_Shdr* names = at(header_.e_shstrndx);
    return names == nullptr ? "" : text(names->sh_offset + section.sh_name);
  }
  // The section that a section names: a symbol table its texts, for example. nullptr: there is
  // none.
  const Elf64_Shdr* link(const Elf64_Shdr& section) const { return at(section.sh_link); }

 private:
  const Elf64_Shdr* at(uint64_t index) const {
    return index < sections_.size() ? &sections_[index] : nullptr;
  }

  std::span<const std::byte> bytes_;
  Elf64_Ehdr header_{};
  bool is_elf_ = false;
  std::vector<Elf64_Shdr> sections_;
};

}  // namespace tilewise
