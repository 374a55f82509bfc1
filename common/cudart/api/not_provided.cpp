// One weak function for each name of the runtime's API. Those that the library implements replace
// theirs at link time; the others say by name that they are not provided, and return
// cudaErrorNotSupported. All of them return cudaError_t, so that the arguments do not matter.

#include "cudart/api/support.h"

#define NOT_PROVIDED(name)                                             \
  extern "C" __attribute__((weak, visibility("default"))) int name();  \
  extern "C" __attribute__((weak, visibility("default"))) int name() { \
    return warpsim::cudart::not_provided(#name);                       \
  }
#include "not_provided.inc"
