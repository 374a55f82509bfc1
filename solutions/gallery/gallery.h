// What the gallery's kernels share. None of the published kernels has boundary checks: each works
// on sizes that its tiles divide, and refuses another by name.

#pragma once

#include <cstdio>

#include "check.h"

// True if n is a multiple of every divisor; else says on standard error which one fails.
template <typename... Divisors>
bool divides_evenly(int n, Divisors... divisors) {
  for (int divisor : {divisors...}) {
    if (n % divisor != 0) {
      std::fprintf(stderr, "gallery: n = %d is not a multiple of %d\n", n, divisor);
      return false;
    }
  }
  return true;
}
