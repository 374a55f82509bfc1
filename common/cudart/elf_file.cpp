#include "cudart/elf_file.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>

#include "cudart/elf_bytes.h"

namespace tilewise {

namespace {

void read_dynamic(const ElfBytes& elf, const Elf64_Shdr& section, uint64_t strings, ElfFile* file) {
  file->is_dynamic = true;
  Elf64_Dyn entry;
  for (uint64_t at = 0; at < section.sh_size && elf.load(section.sh_offset + at, &entry);
       at += sizeof entry) {
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_NEEDED) file->needed.push_back(elf.text(strings + entry.d_un.d_val));
    if (entry.d_tag == DT_RPATH) file->has_rpath = true;
  }
}

void read_symbols(const ElfBytes& elf, const Elf64_Shdr& section, uint64_t strings, ElfFile* file) {
  Elf64_Sym symbol;
  for (uint64_t at = sizeof symbol;
       at < section.sh_size && elf.load(section.sh_offset + at, &symbol); at += sizeof symbol) {
    (symbol.st_shndx == SHN_UNDEF ? file->undefined : file->symbols)
        .push_back(elf.text(strings + symbol.st_name));
  }
}

}  // namespace

std::optional<ElfFile> read_elf_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return std::nullopt;
  const std::string bytes(std::istreambuf_iterator<char>(stream), {});
  const ElfBytes elf(std::as_bytes(std::span(bytes)));
  if (!elf.is_elf()) return std::nullopt;
  ElfFile file;
  for (const Elf64_Shdr& section : elf.sections()) {
    const std::string name = elf.name(section);
    if (name == ".nv_fatbin" || name == ".nvFatBinSegment") file.has_device_code = true;
    const Elf64_Shdr* strings = elf.link(section);
    if (strings == nullptr) continue;
    if (section.sh_type == SHT_DYNAMIC) read_dynamic(elf, section, strings->sh_offset, &file);
    if (section.sh_type == SHT_DYNSYM) read_symbols(elf, section, strings->sh_offset, &file);
  }
  return file;
}

int needed_cudart(const ElfFile& file) {
  constexpr char kPrefix[] = "libcudart.so.";
  for (const std::string& library : file.needed) {
    if (library.rfind(kPrefix, 0) == 0) return std::atoi(library.c_str() + sizeof kPrefix - 1);
  }
  return 0;
}

}  // namespace tilewise
