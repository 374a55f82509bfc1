#include "harness/execute/driver.h"

#include <dlfcn.h>

#include "plan/error.h"

namespace tilewise {

Driver Driver::load(const std::string& library) {
  void* handle =
      ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);  // stays loaded until the program ends
  if (!handle)
    throw HarnessError("no GPU: the driver library " + library +
                       " cannot be loaded; use --backend sim.");
  Driver driver;
#define TILEWISE_DRIVER_LOOKUP(name, symbol, parameters)                            \
  driver.name = reinterpret_cast<CuResult(*) parameters>(::dlsym(handle, #symbol)); \
  if (!driver.name)                                                                 \
    throw HarnessError("the GPU driver has no " #symbol ": a newer driver is needed.");
  TILEWISE_DRIVER_FUNCTIONS(TILEWISE_DRIVER_LOOKUP)
#undef TILEWISE_DRIVER_LOOKUP
  driver.encode_tiled =
      reinterpret_cast<decltype(driver.encode_tiled)>(::dlsym(handle, "cuTensorMapEncodeTiled"));
  CuResult result = driver.init(0);
  int count = 0;
  if (result == kCuSuccess) result = driver.device_count(&count);
  if (result != kCuSuccess || count == 0) {
    std::string reason = result == kCuSuccess ? "the driver sees none" : driver.describe(result);
    throw HarnessError("no GPU: " + reason + "; use --backend sim.");
  }
  return driver;
}

std::string Driver::describe(CuResult result) const {
  const char *name = nullptr, *text = nullptr;
  if (error_name(result, &name) != kCuSuccess || !name)
    return "CUDA error " + std::to_string(result);
  if (error_string(result, &text) != kCuSuccess || !text) return name;
  return std::string(name) + " (" + text + ")";
}

void Driver::check(CuResult result, const char* what) const {
  if (result != kCuSuccess)
    throw HarnessError(std::string("the GPU failed at a ") + what + ": " + describe(result) + ".");
}

}  // namespace tilewise
