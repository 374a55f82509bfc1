#include "harness/compare/uniform.h"

#include <cstring>

namespace tilewise {

float uniform(uint64_t seed, uint64_t index) {
  uint64_t x = (seed << 40) + index + 1;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;  // splitmix64's finaliser
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  x ^= x >> 31;
  // The upper 24 bits, as many as a float holds exactly.
  return static_cast<float>(static_cast<int64_t>(x >> 40) - (1 << 23)) * 0x1p-23f;
}

Matrix uniform_matrix(uint32_t rows, uint32_t columns, uint64_t seed) {
  Matrix matrix{rows, columns, std::vector<float>(size_t{rows} * columns)};
  for (size_t i = 0; i < matrix.values.size(); ++i) matrix.values[i] = uniform(seed, i);
  return matrix;
}

const char kUniformPtx[] = R"(
.version 6.0
.target sm_50
.address_size 64
.visible .entry tilewise_uniform(.param .u64 out, .param .u64 count, .param .u64 seed)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .f32 %f<3>;
  .reg .b64 %rd<10>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [count];
  ld.param.u64 %rd3, [seed];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mul.wide.u32 %rd4, %r1, %r2;
  cvt.u64.u32 %rd5, %r3;
  add.s64 %rd4, %rd4, %rd5;
  setp.ge.u64 %p1, %rd4, %rd2;
  @%p1 bra DONE;
  shl.b64 %rd6, %rd3, 40;
  add.s64 %rd6, %rd6, %rd4;
  add.s64 %rd6, %rd6, 1;
  shr.u64 %rd7, %rd6, 30;
  xor.b64 %rd6, %rd6, %rd7;
  mul.lo.s64 %rd6, %rd6, -4658895280553007687;
  shr.u64 %rd7, %rd6, 27;
  xor.b64 %rd6, %rd6, %rd7;
  mul.lo.s64 %rd6, %rd6, -7723592293110705685;
  shr.u64 %rd7, %rd6, 31;
  xor.b64 %rd6, %rd6, %rd7;
  shr.u64 %rd6, %rd6, 40;
  add.s64 %rd6, %rd6, -8388608;
  cvt.rn.f32.s64 %f1, %rd6;
  mul.f32 %f2, %f1, 0f34000000;
  shl.b64 %rd8, %rd4, 2;
  add.s64 %rd9, %rd1, %rd8;
  st.global.f32 [%rd9], %f2;
DONE:
  ret;
}
)";

UniformOnGpu::UniformOnGpu(GpuBackend& backend) : backend_(backend) {
  try {
    module_ = backend.load_module(kUniformPtx, "the data generator");
  } catch (const ModuleError& error) {
    throw HarnessError(error.what());
  }
}

void UniformOnGpu::operator()(uint64_t address, uint64_t count, uint64_t seed) {
  constexpr uint32_t kThreads = 256;
  warpsim::Launch launch;
  launch.module = module_;
  launch.kernel = "tilewise_uniform";
  launch.grid = {static_cast<uint32_t>((count + kThreads - 1) / kThreads)};
  launch.block = {kThreads};
  launch.params.resize(24);
  std::memcpy(launch.params.data(), &address, 8);
  std::memcpy(launch.params.data() + 8, &count, 8);
  std::memcpy(launch.params.data() + 16, &seed, 8);
  backend_.enqueue(launch);
}

}  // namespace tilewise
