#include "cudart/crash.h"

#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>

#include "warpsim/memory.h"

namespace warpsim::cudart {

namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
constexpr unsigned kMostSecondsOfReport = 20;  // should a lock be held that it needs

void (*g_report)(uint64_t address, const void* code) = nullptr;

const void* code_of(const void* context) {
#if defined(__x86_64__)
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  return reinterpret_cast<const void*>(registers[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(static_cast<const ucontext_t*>(context)->uc_mcontext.pc);
#else
  return nullptr;
#endif
}

void on_signal(int number, siginfo_t* info, void* context) {
  // Restored first: a second fault in here must end the process.
  for (const int other : kSignals) signal(other, SIG_DFL);
  signal(SIGALRM, SIG_DFL);
  alarm(kMostSecondsOfReport);
  // Not async-signal-safe, but the process is lost anyway and the report is worth the try.
  g_report(number == SIGSEGV ? reinterpret_cast<uint64_t>(info->si_addr) : 0, code_of(context));
  alarm(0);
  // A fault is met again on return; others are raised anew.
  if (number != SIGSEGV && number != SIGBUS) raise(number);
  if (info->si_code <= 0) raise(number);  // somebody sent it
}

}  // namespace

bool is_device_pointer(uint64_t address) {
  return address >= DeviceMemory::kDeviceBase && address < DeviceMemory::kDeviceEnd;
}

std::string segmentation_fault_sentence(uint64_t address, const char* who) {
  char text[200];
  std::snprintf(text, sizeof text,
                is_device_pointer(address)
                    ? "%s dereferenced a device pointer on the host, at 0x%llx."
                    : "%s crashed: a segmentation fault at address 0x%llx.",
                who, static_cast<unsigned long long>(address));
  return text;
}

void watch_for_crashes(void (*report)(uint64_t address, const void* code)) {
  g_report = report;
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  for (const int number : kSignals) {
    struct sigaction before = {};
    // A program that has set its own keeps it.
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_DFL)
      sigaction(number, &action, nullptr);
  }
}

}  // namespace warpsim::cudart
