// A program's own checks: each failed one is printed, and finish() gives the program's status.

#pragma once

#include <cstdio>

inline int g_failures = 0;

#define EXPECT_CODE(call, code)                                                                 \
  do {                                                                                          \
    int got = (call);                                                                           \
    if (got != (code)) {                                                                        \
      ++g_failures;                                                                             \
      std::printf("line %d: %s returned %d, expected %d\n", __LINE__, #call, got, (int)(code)); \
    }                                                                                           \
  } while (0)
#define EXPECT_OK(call) EXPECT_CODE(call, cudaSuccess)
#define EXPECT(condition)                                           \
  do {                                                              \
    if (!(condition)) {                                             \
      ++g_failures;                                                 \
      std::printf("line %d: not true: %s\n", __LINE__, #condition); \
    }                                                               \
  } while (0)

inline int finish() {
  std::printf(g_failures ? "%d checks failed\n" : "all checks passed\n", g_failures);
  return g_failures != 0;
}
