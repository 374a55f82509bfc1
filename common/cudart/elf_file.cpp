#include "cudart/elf_file.h"

#include <elf.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace tilewise {

namespace {

class Reader {
 public:
  explicit Reader(std::string bytes) : bytes_(std::move(bytes)) {}

  template <typename T>
  bool load(uint64_t offset, T* value) const {
    if (offset > bytes_.size() || sizeof(T) > bytes_.size() - offset) return false;
    std::memcpy(value, bytes_.data() + offset, sizeof(T));
    return true;
  }

  // The zero-terminated text at `offset`, empty if that lies outside the file.
  std::string text(uint64_t offset) const {
    if (offset >= bytes_.size()) return "";
    return std::string(bytes_.data() + offset,
                       strnlen(bytes_.data() + offset, bytes_.size() - offset));
  }

 private:
  std::string bytes_;
};

void read_dynamic(const Reader& reader, const Elf64_Shdr& section, uint64_t strings,
                  ElfFile* file) {
  file->is_dynamic = true;
  Elf64_Dyn entry;
  for (uint64_t at = 0; at < section.sh_size && reader.load(section.sh_offset + at, &entry);
       at += sizeof entry) {
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_NEEDED) file->needed.push_back(reader.text(strings + entry.d_un.d_val));
    if (entry.d_tag == DT_RPATH) file->has_rpath = true;
  }
}

void read_symbols(const Reader& reader, const Elf64_Shdr& section, uint64_t strings,
                  ElfFile* file) {
  Elf64_Sym symbol;
  for (uint64_t at = sizeof symbol;
       at < section.sh_size && reader.load(section.sh_offset + at, &symbol); at += sizeof symbol) {
    (symbol.st_shndx == SHN_UNDEF ? file->undefined : file->symbols)
        .push_back(reader.text(strings + symbol.st_name));
  }
}

}  // namespace

std::optional<ElfFile> read_elf_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return std::nullopt;
  Reader reader(std::string(std::istreambuf_iterator<char>(stream), {}));
  Elf64_Ehdr header;
  if (!reader.load(0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return std::nullopt;
  }
  ElfFile file;
  auto section_at = [&](uint32_t index, Elf64_Shdr* section) {
    return index < header.e_shnum &&
           reader.load(header.e_shoff + uint64_t{index} * header.e_shentsize, section);
  };
  Elf64_Shdr names{}, section{}, strings{};
  section_at(header.e_shstrndx, &names);
  for (uint32_t i = 0; i < header.e_shnum && section_at(i, &section); ++i) {
    std::string name = reader.text(names.sh_offset + section.sh_name);
    if (name == ".nv_fatbin" || name == ".nvFatBinSegment") file.has_device_code = true;
    if (!section_at(section.sh_link, &strings)) continue;
    if (section.sh_type == SHT_DYNAMIC) read_dynamic(reader, section, strings.sh_offset, &file);
    if (section.sh_type == SHT_DYNSYM) read_symbols(reader, section, strings.sh_offset, &file);
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
