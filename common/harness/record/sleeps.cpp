// The functions of the C library that sleep for a time, in place of its own: whoever sleeps once
// has not waited for anything, and the recorder has to tell that from a wait (sleeps.h).

#include "cudart/sleeps.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

namespace {

std::atomic<int> g_thread{0};          // that slept last
std::atomic<bool> g_is_asleep{false};  // it sleeps now
std::atomic<unsigned> g_count{0};      // how often it has begun to

int sleep_for(clockid_t clock, int flags, const timespec* time, timespec* rest) {
  const int self = gettid();
  if (g_thread.exchange(self) != self) g_count = 0;
  ++g_count;
  g_is_asleep = true;
  const long failed = syscall(SYS_clock_nanosleep, clock, flags, time, rest);
  const int error = failed == 0 ? 0 : errno;
  g_is_asleep = false;
  return error;
}

// As functions that return -1 do.
int with_errno(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

}  // namespace

extern "C" {

#define SLEEP_API __attribute__((visibility("default")))

SLEEP_API int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* rest) {
  return sleep_for(clock, flags, time, rest);
}

SLEEP_API int nanosleep(const timespec* time, timespec* rest) {
  return with_errno(sleep_for(CLOCK_REALTIME, 0, time, rest));
}

SLEEP_API int usleep(useconds_t microseconds) {
  const timespec time{time_t(microseconds / 1'000'000), long(microseconds % 1'000'000) * 1000};
  return with_errno(sleep_for(CLOCK_REALTIME, 0, &time, nullptr));
}

SLEEP_API unsigned sleep(unsigned seconds) {
  timespec rest{};
  const timespec time{time_t(seconds), 0};
  return sleep_for(CLOCK_REALTIME, 0, &time, &rest) == 0 ? 0 : unsigned(rest.tv_sec);
}

SLEEP_API unsigned tilewise_sleeps_of(int thread, bool* now) {
  const bool is_this = g_thread == thread;
  *now = is_this && g_is_asleep;
  return is_this ? g_count.load() : 0;
}
}
