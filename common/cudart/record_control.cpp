// The exported functions of record_control.h.

#include "cudart/record_control.h"

#include <signal.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "cudart/record.h"
#include "cudart/runtime.h"
#include "warpsim/ptx/parser.h"

using namespace warpsim;
using namespace warpsim::cudart;

#define RECORD_API extern "C" __attribute__((visibility("default")))

namespace {

std::vector<std::string> g_module_files;
std::string g_plan;

void put(const std::string& text, char* message, int bytes) {
  std::snprintf(message, static_cast<size_t>(bytes), "%s", text.c_str());
}

// The text of a module, read even if no kernel of it was used.
const Ptx& text_of(RegisteredModule& module, const Device& device) {
  if (module.ptx.text.empty()) {
    uint32_t compute_capability = static_cast<uint32_t>(device.cc_major * 10 + device.cc_minor);
    module.ptx = ptx_of_wrapper(module.wrapper, compute_capability);
  }
  return module.ptx;
}

std::string target_of(const std::string& ptx) {
  size_t at = ptx.find(".target ");
  if (at == std::string::npos) return "";
  at += 8;
  return ptx.substr(at, ptx.find_first_of(", \t\r\n", at) - at);
}

}  // namespace

RECORD_API int tilewise_record_modules(TilewiseRecordText* modules, int capacity, char* message,
                                       int bytes) {
  Runtime& runtime = Runtime::instance();
  try {
    int count = 0;
    for (const auto& module : runtime.registry().modules()) {
      const Ptx& ptx = text_of(*module, runtime.device());
      g_module_files.push_back("module" + std::to_string(count) + ".ptx");
      if (count < capacity) {
        modules[count] = {ptx.text.data(), ptx.text.size(), {}};
        put(target_of(ptx.text), modules[count].target, sizeof modules[count].target);
      }
      ++count;
    }
    return count;
  } catch (const std::exception& error) {
    put(error.what(), message, bytes);
    return -1;
  }
}

RECORD_API bool tilewise_record_begin(const TilewiseRecordCase* description,
                                      TilewiseRecordPointers* pointers) {
  Runtime::instance();
  try {
    return process_recorder() && process_recorder()->begin(*description, pointers);
  } catch (const std::invalid_argument&) {  // the recorder has looked at it already
    return false;
  }
}

RECORD_API bool tilewise_record_end(TilewiseRecordText* plan, char* message, int bytes) {
  try {
    Runtime& runtime = Runtime::instance();
    {
      std::lock_guard lock(runtime.mutex());
      runtime.callbacks().run_unawaited();
    }
    g_plan = tilewise::plan::to_text(process_recorder()->finish(g_module_files));
    *plan = {g_plan.data(), g_plan.size(), {}};
    return true;
  } catch (const std::exception& error) {
    put(error.what(), message, bytes);
    return false;
  }
}

RECORD_API bool tilewise_record_failed() {
  return process_recorder() && process_recorder()->has_failed();
}

RECORD_API void tilewise_record_crash(int signal, uint64_t address,
                                      TilewiseRecordFailure* failure) {
  const Recorder* recorder = process_recorder();
  std::string missing = recorder ? recorder->missing_feature() : "";
  auto set = [&](TilewiseRecordReason reason, const std::string& subject,
                 const std::string& sentence) {
    failure->reason = reason;
    put(subject, failure->subject, sizeof failure->subject);
    put(sentence, failure->message, sizeof failure->message);
  };
  using Reason = TilewiseRecordReason;
  if (!missing.empty()) {  // whatever went wrong afterwards: it was not the student's fault
    set(Reason::kNotProvided, missing, missing + " is not provided, and solve crashed without it.");
  } else if ((signal == SIGSEGV || signal == SIGBUS) && recorder) {
    const HostFault fault = recorder->host_fault(address);
    set(fault.reason, fault.array, fault.sentence);
  } else if (signal == SIGSEGV || signal == SIGBUS) {
    set(Reason::kSegmentationFault, "", "solve crashed: a segmentation fault.");
  } else if (signal == SIGFPE) {
    set(Reason::kDivisionByZero, "", "solve crashed: a division by zero on the host.");
  } else if (signal == SIGABRT) {
    set(Reason::kAbort, "",
        "solve ended by abort(): a failed assert, an uncaught exception, or damaged host memory.");
  } else {
    set(Reason::kSignal, strsignal(signal),
        std::string("solve crashed: ") + strsignal(signal) + ".");
  }
}
