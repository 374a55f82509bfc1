// A copy of N to longer rows that goes on beside the product which reads it (rung 08).
#pragma once

#include <cuda_runtime.h>

#include "maps.h"

namespace summit {

constexpr int STAYERS = 4;      // blocks that copy beside the product, a multiprocessor each
constexpr int SLICE_ROWS = 32;  // rows that are reported together: a stage's steps of k

// Rows of `columns` floats that the stayers copy in the time in which a block multiplies a slice.
constexpr int kMostBeside = 2304;
// Rows that are copied before the product begins, on all multiprocessors.
constexpr int kRowsBefore = 256;

// Queues the copy: to[row][0..columns) = from[row][...], zeros behind to `stride`, a multiple of 4.
// The next kernel on the stream must be the product, launched to start early, in at most
// multiprocessors - STAYERS blocks; instead of wait_for_kernels_before() it waits as
// common/shifted.cuh does for what this returns.
Progress copy_beside(const float* from, float* to, int rows, int columns, int stride,
                     int multiprocessors, cudaStream_t stream);

}  // namespace summit
