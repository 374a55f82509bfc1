#include "cudart/crash.h"

#include <signal.h>

#include <cstdio>

#include "warpsim/memory.h"

namespace warpsim::cudart {

namespace {

void (*g_report)(const std::string&) = nullptr;

void on_segmentation_fault(int, siginfo_t* info, void*) {
  // Restored first: a second fault in here must end the process.
  signal(SIGSEGV, SIG_DFL);
  uint64_t address = reinterpret_cast<uint64_t>(info->si_addr);
  // Not async-signal-safe, but the process is lost anyway and the sentence is worth the try.
  if (address >= DeviceMemory::kDeviceBase && address < DeviceMemory::kDeviceEnd)
    g_report(segmentation_fault_sentence(address, "the program"));
}

}  // namespace

std::string segmentation_fault_sentence(uint64_t address, const char* who) {
  char text[200];
  bool is_device = address >= DeviceMemory::kDeviceBase && address < DeviceMemory::kDeviceEnd;
  std::snprintf(text, sizeof text,
                is_device ? "%s dereferenced a device pointer on the host, at 0x%llx."
                          : "%s crashed: a segmentation fault at address 0x%llx.",
                who, static_cast<unsigned long long>(address));
  return text;
}

void watch_for_host_access(void (*report)(const std::string& sentence)) {
  g_report = report;
  struct sigaction action = {};
  action.sa_sigaction = on_segmentation_fault;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, nullptr);
}

}  // namespace warpsim::cudart
