// Matrices in NumPy's .npy format: float32, C order, two dimensions.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilewise {

struct Matrix {
  uint32_t rows = 0, columns = 0;
  std::vector<float> values;  // [rows][columns], row-major

  uint64_t bytes() const { return uint64_t{4} * rows * columns; }
};

// Reads format versions 1 to 3, little-endian. Throws InputError with one sentence that names the
// file: cannot be opened, not .npy, another type or order or number of dimensions, shorter or
// longer than its shape says.
Matrix read_npy(const std::string& path);

// Version 1.0, as numpy.save writes it. Throws HarnessError when the file cannot be written.
void write_npy(const std::string& path, const Matrix& matrix);

}  // namespace tilewise
