#include "harness/compare/cublas.h"

#include <dlfcn.h>

#include "plan/error.h"

namespace tilewise {

namespace {

// cublasOperation_t, cublasMath_t
constexpr int kNoTranspose = 0, kDefaultMath = 0;

template <typename Function>
Function symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

void* open_library() {
  for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so",
                           "/usr/local/cuda/lib64/libcublas.so"}) {
    if (void* library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<Cublas> Cublas::load(std::string* problem) {
  void* library = open_library();
  if (!library) {
    *problem = "libcublas.so is not on this machine's library path (LD_LIBRARY_PATH).";
    return nullptr;
  }
  auto create = symbol<int (*)(void**)>(library, "cublasCreate_v2");
  auto set_math = symbol<int (*)(void*, int)>(library, "cublasSetMathMode");
  void* handle = nullptr;
  if (!create || !set_math || create(&handle) != 0 || set_math(handle, kDefaultMath) != 0) {
    *problem = "cuBLAS does not start.";
    return nullptr;
  }
  return std::unique_ptr<Cublas>(new Cublas(library, handle));
}

Cublas::~Cublas() {
  if (auto destroy = symbol<int (*)(void*)>(library_, "cublasDestroy_v2")) destroy(handle_);
  // The library stays loaded: it has threads and exit handlers of its own.
}

void Cublas::multiply(uint64_t m, uint64_t n, uint64_t p, uint32_t j, uint32_t k,
                      uint32_t l) const {
  using Sgemm = int (*)(void*, int, int, int, int, int, const float*, const void*, int, const void*,
                        int, const float*, void*, int);
  static const float kOne = 1, kZero = 0;
  auto sgemm = symbol<Sgemm>(library_, "cublasSgemm_v2");
  // cuBLAS is column-major: in its eyes our matrices are transposed, and P^T = N^T M^T.
  int result =
      sgemm ? sgemm(handle_, kNoTranspose, kNoTranspose, int(l), int(j), int(k), &kOne,
                    reinterpret_cast<const void*>(n), int(l), reinterpret_cast<const void*>(m),
                    int(k), &kZero, reinterpret_cast<void*>(p), int(l))
            : -1;
  if (result != 0)
    throw HarnessError("cublasSgemm failed with status " + std::to_string(result) + ".");
}

std::string Cublas::version() const {
  auto get = symbol<int (*)(void*, int*)>(library_, "cublasGetVersion_v2");
  int version = 0;
  if (!get || get(handle_, &version) != 0) return "";
  int major = version >= 100000 ? version / 10000 : version / 1000;  // 13 and later; 12 and earlier
  int minor = version >= 100000 && major < 100 ? version / 100 % 100 : version / 100 % 10;
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(version % 100);
}

}  // namespace tilewise
