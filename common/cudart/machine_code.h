// What the machine code of a program says of its kernels: nvcc has asked ptxas already.
//
// Machine code is an ELF file. Its section .nv.info is a row of entries: u8 form, u8 attribute,
// u16; of form 4 the u16 is a size, and so many bytes follow. Attribute 0x2F is u32 index into the
// symbol table, u32 registers per thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace warpsim::cudart {

// By kernel, mangled. Never reads outside `file`; of what is no such file, or a damaged one, what
// can be read.
std::map<std::string, uint32_t> registers_in_machine_code(std::span<const std::byte> file);

// The same of the machine code for exactly this compute capability (90) that a program brings
// along; empty if it brings none.
std::map<std::string, uint32_t> registers_of_wrapper(const void* wrapper,
                                                     uint32_t compute_capability);

}  // namespace warpsim::cudart
