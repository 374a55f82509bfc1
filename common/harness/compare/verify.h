// Is P = M N, as far as float32 can tell? The bound is the grader's: |P - M N| <= eps sqrt(k) (|M|
// |N|) elementwise, eps = 2^-23, against sums in double.

#pragma once

#include <cstdint>
#include <string>

#include "plan/npy.h"

namespace tilewise {

// The nearest bf16 of each element; of two equally near ones the even one.
Matrix rounded_to_bf16(Matrix matrix);

struct Verdict {
  bool right = true;
  double worst = 0;     // largest error seen over its bound; infinite where there is a NaN
  std::string message;  // the first wrong element, "" if right
};

// Products of up to 2^24 multiply-adds are checked in full. Larger ones by whole rows and columns
// drawn at random, and by P x = M (N x) for a random vector x of +1 and -1, which sees a wrong
// element anywhere unless its error is small against what rounding does to a whole row.
Verdict verify(const Matrix& m, const Matrix& n, const Matrix& p, uint64_t seed);

}  // namespace tilewise
