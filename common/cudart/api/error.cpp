// cudaGetLastError and its like.

#include "cudart/api/support.h"

using namespace warpsim::cudart;

namespace {

struct ErrorText {
  int code;
  const char* name;
  const char* text;
};

constexpr ErrorText kErrors[] = {
#define X(code, name, text) {code, #name, text},
#include "cudart/error_table.inc"
#undef X
};

const ErrorText* find_error(int code) {
  for (const ErrorText& error : kErrors) {
    if (error.code == code) return &error;
  }
  return nullptr;
}

}  // namespace

WARPSIM_API const char* cudaGetErrorName(int code) {
  const ErrorText* error = find_error(code);
  return error ? error->name : "unrecognized error code";
}

WARPSIM_API const char* cudaGetErrorString(int code) {
  const ErrorText* error = find_error(code);
  return error ? error->text : "unrecognized error code";
}

// Neither surfaces a fault that no other call has seen: the kernel still runs, as far as the
// program can tell.
WARPSIM_API int cudaGetLastError() {
  Runtime& runtime = Runtime::instance();
  std::lock_guard lock(runtime.mutex());
  Error error = runtime.last_error();
  runtime.clear_last_error();
  runtime.backend().errors_looked_at();
  return error;
}

WARPSIM_API int cudaPeekAtLastError() {
  Runtime& runtime = Runtime::instance();
  std::lock_guard lock(runtime.mutex());
  runtime.backend().errors_looked_at();
  return runtime.last_error();
}
