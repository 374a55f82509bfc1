// A submission that asks for a callback, and then does what SOLVE names: it may be a wait. It ends
// by an exception that says whether the callback had been called by then.

#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

std::atomic<bool> called{false};
std::promise<void> promise;

void nap(int milliseconds) {
  usleep(useconds_t(milliseconds) * 1000);
}

void sleep_by_nanosleep(int milliseconds) {
  const timespec time{milliseconds / 1000, milliseconds % 1000 * 1'000'000L};
  nanosleep(&time, nullptr);
}

void spin_for(double seconds) {
  const clock_t begin = clock();
  while (!called && double(clock() - begin) < seconds * CLOCKS_PER_SEC) {
  }
}

const std::map<std::string, std::function<void()>> kWays = {
    {"goes-on", [] {}},
    {"sleeps-once", [] { nap(200); }},
    {"sleeps-long", [] { sleep_by_nanosleep(1500); }},
    {"sleeps-by-the-library", [] { std::this_thread::sleep_for(std::chrono::milliseconds(200)); }},
    {"naps-three-times",
     [] {
       for (int i = 0; i < 3; ++i) nap(5);
     }},
    {"naps-until-called",
     [] {
       for (int i = 0; i < 2000 && !called; ++i) nap(5);
     }},
    {"long-naps-until-called",
     [] {
       for (int i = 0; i < 8 && !called; ++i) sleep_by_nanosleep(600);
     }},
    {"spins", [] { spin_for(5); }},
    {"waits-for-a-promise", [] { promise.get_future().wait(); }},
    {"waits-for-the-stream", [] { cudaStreamSynchronize(nullptr); }},
};

}  // namespace

void solve(const float*, const float*, float*, int) {
  cudaLaunchHostFunc(
      nullptr,
      [](void*) {
        called = true;
        promise.set_value();
      },
      nullptr);
  kWays.at(std::getenv("SOLVE"))();
  throw std::runtime_error(called ? "it had been called" : "it had yet to be called");
}
