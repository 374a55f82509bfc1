// What the student called it: readable names from mangled ones.

#pragma once

#include <string>

namespace warpsim::ptx {

// `_Z5tiledPKfS0_Pfi` -> `tiled`, `_Z5templILi16EfEvPKT0_PS0_i` -> `templ<16, float>`. A name that
// is not mangled stays.
std::string function_source_name(const std::string& mangled);

// `_ZZ5tiledPKfS0_PfiE2Ms` -> `Ms`, `_ZN3lab5tableE` -> `table`. A name that is not mangled stays.
std::string variable_source_name(const std::string& mangled);

}  // namespace warpsim::ptx
