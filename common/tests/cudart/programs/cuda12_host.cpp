// What the host object of a CUDA 12 program does, written out by hand, since tests cannot count on
// a CUDA 12 compiler: registers a fatbinary, kernels by their host stubs, launches with
// cudaLaunchKernel, reads the long cudaDeviceProp.

#include <cstdint>
#include <cstring>
#include <string>

#include "cudart/abi.h"
#include "tests/cudart/programs/expect.h"

namespace abi = warpsim::cudart;

extern "C" {
void** __cudaRegisterFatBinary(const void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaUnregisterFatBinary(void**);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*,
                            void*, int*);
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int);
unsigned __cudaPushCallConfiguration(abi::Dim3Abi, abi::Dim3Abi, size_t, void*);
int __cudaPopCallConfiguration(abi::Dim3Abi*, abi::Dim3Abi*, size_t*, void**);
int cudaLaunchKernel(const void*, abi::Dim3Abi, abi::Dim3Abi, void**, size_t, void*);
int cudaGetDeviceProperties_v2(abi::DeviceProp12*, int);
int cudaPointerGetAttributes(abi::PointerAttributes12*, const void*);
int cudaMemcpyToSymbol(const void*, const void*, size_t, size_t, int);
int cudaRuntimeGetVersion(int*);
int cudaMalloc(void**, size_t);
int cudaMemcpy(void*, const void*, size_t, int);
int cudaFree(void*);
int cudaGetLastError();
}

namespace {

// __global__ void add(float* p, int n) { int i = threadIdx.x; if (i < n) p[i] = offset + i; }
constexpr char kPtx[] = R"(.version 8.0
.target sm_70
.address_size 64
.global .align 4 .f32 offset = 0f3F800000;
.visible .entry _Z3addPfi(.param .u64 _Z3addPfi_param_0, .param .u32 _Z3addPfi_param_1)
{
.reg .pred %p<2>;
.reg .b32 %r<3>;
.reg .f32 %f<4>;
.reg .b64 %rd<5>;
ld.param.u64 %rd1, [_Z3addPfi_param_0];
ld.param.u32 %r1, [_Z3addPfi_param_1];
mov.u32 %r2, %tid.x;
setp.ge.s32 %p1, %r2, %r1;
@%p1 bra $L__done;
cvta.to.global.u64 %rd2, %rd1;
mul.wide.s32 %rd3, %r2, 4;
add.s64 %rd4, %rd2, %rd3;
ld.global.f32 %f1, [offset];
cvt.rn.f32.s32 %f2, %r2;
add.f32 %f3, %f1, %f2;
st.global.f32 [%rd4], %f3;
$L__done:
ret;
}
)";

struct Container {  // see cudart/fatbinary.h
  uint32_t magic = 0xBA55ED50;
  uint16_t version = 1, header_bytes = 16;
  uint64_t body_bytes = 0x40 + sizeof text;
  uint16_t kind = 1, entry_version = 0x101;
  uint32_t entry_header_bytes = 0x40;
  uint64_t payload_bytes = sizeof text;
  uint32_t compressed_bytes = 0, options = 0;
  uint16_t minor = 0, major = 8;
  uint32_t compute_capability = 70, name_offset = 0, name_bytes = 0;
  uint64_t flags = 0x11, zero = 0, uncompressed_bytes = 0;
  char text[(sizeof kPtx + 7) / 8 * 8] = {};
};

struct Wrapper {
  uint32_t magic = 0x466243B1, version = 1;
  const void* container = nullptr;
  const void* other = nullptr;
};

float offset_shadow;  // what nvcc leaves of a __device__ variable on the host

// The host stub of `add`, as nvcc 12 writes it.
void add(float* p, int n) {
  void* arguments[] = {&p, &n};
  abi::Dim3Abi grid, block;
  size_t shared;
  void* stream;
  if (__cudaPopCallConfiguration(&grid, &block, &shared, &stream)) return;
  cudaLaunchKernel(reinterpret_cast<const void*>(&add), grid, block, arguments, shared, stream);
}

void check_launch() {
  float *d = nullptr, h[8] = {}, ten = 10;
  EXPECT_CODE(cudaMalloc(reinterpret_cast<void**>(&d), sizeof h), 0);
  if (!__cudaPushCallConfiguration({1, 1, 1}, {32, 1, 1}, 0, nullptr)) add(d, 8);
  EXPECT_CODE(cudaGetLastError(), 0);
  EXPECT_CODE(cudaMemcpy(h, d, sizeof h, abi::kDeviceToHost), 0);
  EXPECT(h[0] == 1 && h[7] == 8);
  EXPECT_CODE(cudaMemcpyToSymbol(&offset_shadow, &ten, sizeof ten, 0, abi::kHostToDevice), 0);
  if (!__cudaPushCallConfiguration({1, 1, 1}, {2000, 1, 1}, 0, nullptr)) add(d, 8);
  EXPECT_CODE(cudaGetLastError(), abi::kInvalidConfiguration);
  if (!__cudaPushCallConfiguration({1, 1, 1}, {4, 1, 1}, 0, nullptr)) add(d, 8);
  EXPECT_CODE(cudaMemcpy(h, d, sizeof h, abi::kDeviceToHost), 0);
  EXPECT(h[3] == 13 && h[4] == 5);
  EXPECT_CODE(cudaFree(d), 0);
}

void check_structures() {
  abi::DeviceProp12 properties;
  std::memset(&properties, 0xAA, sizeof properties);
  EXPECT_CODE(cudaGetDeviceProperties_v2(&properties, 0), 0);
  EXPECT(properties.major == 9 && properties.clockRate > 0 && properties.reserved[62] == 0);
  struct {
    abi::PointerAttributes12 attributes;
    uint64_t guard = 0x1234;
  } pointer;
  EXPECT_CODE(cudaPointerGetAttributes(&pointer.attributes, &properties), 0);
  EXPECT(pointer.attributes.type == abi::kUnregistered && pointer.guard == 0x1234);
  int version = 0;
  EXPECT_CODE(cudaRuntimeGetVersion(&version), 0);
  EXPECT(version / 1000 == 12);
}

}  // namespace

int main() {
  static Container container;
  std::memcpy(container.text, kPtx, sizeof kPtx);
  static Wrapper wrapper;
  wrapper.container = &container;
  void** handle = __cudaRegisterFatBinary(&wrapper);
  char name[] = "_Z3addPfi", variable[] = "offset";
  __cudaRegisterFunction(handle, reinterpret_cast<const char*>(&add), name, name, -1, nullptr,
                         nullptr, nullptr, nullptr, nullptr);
  __cudaRegisterVar(handle, reinterpret_cast<char*>(&offset_shadow), variable, variable, 0, 4, 0,
                    0);
  __cudaRegisterFatBinaryEnd(handle);
  check_launch();
  check_structures();
  __cudaUnregisterFatBinary(handle);
  return finish();
}
