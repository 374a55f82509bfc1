// The warpgroup's matrix instruction and the few PTX instructions around it that rungs 01 to 08 do
// not use.
#pragma once

#include "../common/ptx.cuh"

namespace summit::split {

// 64 x 128 results of a warpgroup, 64 in each thread: thread t holds, for c = 0, 8, ... 120,
// columns c + t % 4 * 2 and the next one of row t / 32 * 16 + t % 32 / 4 (elements 4 * (c / 8) + 0,
// 1) and of the row eight further down (elements 4 * (c / 8) + 2, 3).
constexpr int RESULTS = 64;

// What the instruction knows a matrix in shared memory by, here of 8 x 8 bfloat16 in 128 bytes
// each, without swizzle: where it begins, and the bytes from one group of 8 steps to the next
// (`lead`). Groups of 8 rows follow each other without gaps.
__device__ __forceinline__ uint64_t matrix(uint32_t address, uint32_t lead) {
  constexpr uint64_t kNextRows = 128 >> 4;
  return uint64_t(address >> 4) | uint64_t(lead >> 4) << 16 | kNextRows << 32;
}

// Results that ordinary instructions have touched may go to the tensor cores after this.
__device__ __forceinline__ void tensor_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void tensor_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// Until all that was committed is done.
__device__ __forceinline__ void tensor_wait() {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

// acc = a x b, or acc += a x b where `add`: 64 x 16 times 16 x 128, both stored along k.
__device__ __forceinline__ void tensor_multiply(float (&d)[RESULTS], uint64_t a, uint64_t b,
                                                int add) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
      "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
      "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
      "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63},"
      " %64, %65, add, 1, 1, 0, 0;\n}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
        "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]),
        "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]),
        "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
        "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]),
        "+f"(d[63])
      : "l"(a), "l"(b), "r"(add));
}

// Asks for `bytes` in a row; completion is counted on `barrier`.
__device__ __forceinline__ void copy_bytes(uint32_t shared_to, const void* from, uint32_t bytes,
                                           uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}
}  // namespace summit::split
