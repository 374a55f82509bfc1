// One of the programs that a comparison times: a plan, or cuBLAS.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/compare/cublas.h"
#include "harness/execute/executor.h"
#include "harness/execute/gpu_timing.h"

namespace tilewise {

// The comparison's data on the GPU: every candidate gets copies.
struct SharedData {
  uint64_t m = 0, n = 0;  // addresses
};

class Candidate {
 public:
  virtual ~Candidate() = default;
  // Takes the shared data over and poisons the output, so that a result of an earlier run cannot
  // pass for the next one's.
  virtual void prepare() = 0;
  // One run after prepare(), waited for.
  virtual RunTime run() = 0;
  virtual Matrix output() = 0;
  // Poisons the output: all candidates share one address space, and the right product must not lie
  // in it while another one runs.
  virtual void conceal() = 0;
  // What the first, checked run said; null for cuBLAS.
  virtual const Execution* execution() const = 0;
};

// Carries the plan out once on `m` and `n` with all of the executor's checks. Timing it makes sense
// if execution()->status is kOk. `plan`, `backend` and `shared` must outlive it.
std::unique_ptr<Candidate> make_plan_candidate(const plan::Plan& plan, GpuBackend& backend,
                                               const SharedData& shared, Matrix m, Matrix n);
// P[j][l] = M N by cuBLAS. All arguments must outlive it. Throws HarnessError if there is no memory
// for P.
std::unique_ptr<Candidate> make_cublas_candidate(const Cublas& cublas, const plan::Plan& shapes,
                                                 GpuBackend& backend, const SharedData& shared);

}  // namespace tilewise
