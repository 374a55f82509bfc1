// What can be told about an executable or shared object before it is loaded.

#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tilewise {

struct ElfFile {
  bool is_dynamic = false;             // has a dynamic section: libraries can be replaced
  std::vector<std::string> needed;     // libraries it asks for, by soname
  bool has_rpath = false;              // DT_RPATH, which goes before LD_LIBRARY_PATH
  bool has_device_code = false;        // sections that nvcc makes
  std::vector<std::string> symbols;    // names in the dynamic symbol table, defined ones
  std::vector<std::string> undefined;  // undefined ones
};

// nullopt if the file cannot be read or is no 64-bit little-endian ELF file. Never fails on damaged
// ones: what lies outside the file is left out.
std::optional<ElfFile> read_elf_file(const std::string& path);

// The major version of the CUDA runtime the file asks for (13 for libcudart.so.13), 0 if it asks
// for none.
int needed_cudart(const ElfFile& file);

}  // namespace tilewise
