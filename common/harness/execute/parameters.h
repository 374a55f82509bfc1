// Where a kernel's parameters lie in the block of them that a launch plan has.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise {

struct ParameterPlace {
  size_t offset = 0, bytes = 0;
  bool operator==(const ParameterPlace&) const = default;
};

// Of the kernel with this (mangled) name in the module's PTX, in order: each at the next multiple
// of its alignment, as in a struct of C. (A driver's own block begins at no multiple of 128, so
// that there a parameter with such an alignment lies elsewhere, and all that follow.) Throws
// ModuleError if the text does not say.
std::vector<ParameterPlace> parameter_places(std::string_view ptx, const std::string& kernel);

}  // namespace tilewise
