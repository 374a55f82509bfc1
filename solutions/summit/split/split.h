// The second track: P = M x N with float32's accuracy from bfloat16 tensor cores. See README.md.
#pragma once

#include "../common/summit.h"
#include "pieces.h"

namespace summit::split {

// The four steps, each queued on the stream. Extents: j of rows of M, then l of columns of N.
void measure(const Problem&, Extent* extents, cudaStream_t);
void cut(const Problem&, const Extent* extents, unsigned char* m, unsigned char* n, cudaStream_t);
void multiply(const Problem&, const Extent* extents, const unsigned char* m, const unsigned char* n,
              cudaStream_t);
void repair(const Problem&, const Extent* extents, cudaStream_t);

// All four: the product of any j, k, l >= 1 and any 4-byte aligned pointers. Keeps scratch memory
// of 6 bytes for each element of M and N for the next call, so not for two streams at once.
void launch(const Problem&, cudaStream_t);

}  // namespace summit::split
