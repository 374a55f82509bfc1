// Arrays in NumPy's .npy format: float32 or int32, C order, two dimensions.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plan/signature.h"

namespace tilewise {

// One of solve's arrays.
struct Matrix {
  uint32_t rows = 0, columns = 0;
  std::vector<float> values;  // [rows][columns], row-major; of an array of int the same 4 bytes
  plan::Element element = plan::Element::kFloat;

  uint64_t bytes() const { return uint64_t{4} * rows * columns; }
};

using Matrices = std::map<std::string, Matrix>;  // by name

// Reads format versions 1 to 3, little-endian. Throws InputError with one sentence that names the
// file: cannot be opened, not .npy, another type or order or number of dimensions, shorter or
// longer than its shape says.
Matrix read_npy(const std::string& path);

// Version 1.0, as numpy.save writes it. Throws HarnessError when the file cannot be written.
void write_npy(const std::string& path, const Matrix& matrix);

}  // namespace tilewise
