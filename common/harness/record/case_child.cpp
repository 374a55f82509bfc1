#include "harness/record/case_child.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <typeinfo>

#include "cudart/elf_file.h"
#include "cudart/record_control.h"
#include "harness/record/confine.h"
#include "harness/record/parcel.h"

namespace tilewise::record {

namespace {

constexpr size_t kSignalStackBytes = 64 << 10;

Shared* g_shared = nullptr;
TilewiseRecordCrash* g_describe_crash = nullptr;
TilewiseRecordEnd* g_end = nullptr;
TilewiseRecordFailed* g_has_failed = nullptr;
int g_parcel = -1;
const std::string* g_submission = nullptr;  // its path
pid_t g_case = 0;
uint64_t g_stack_of_solve = 0;  // begins above this address, and grows down

template <size_t size>
void put(const std::string& text, char (&chars)[size]) {
  std::snprintf(chars, size, "%s", text.c_str());
}

[[noreturn]] void finish(const char* status, Reason reason, const std::string& message,
                         const std::string& subject = "") {
  put(status, g_shared->status);
  g_shared->failure.reason = reason;
  put(subject, g_shared->failure.subject);
  put(message, g_shared->failure.message);
  g_shared->is_done = true;
  std::fflush(nullptr);
  _exit(0);
}

uint64_t stack_pointer(const void* context) {
#if defined(__x86_64__)
  return static_cast<uint64_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return static_cast<const ucontext_t*>(context)->uc_mcontext.sp;
#else
  return 0;
#endif
}

// A fault near the stack pointer comes from a stack without room for the next frame; one beyond the
// frame that solve is called from does not: something was read on and on.
bool is_stack_overflow(uint64_t address, const void* context) {
  constexpr uint64_t kFurthest = 1 << 20;
  uint64_t stack = stack_pointer(context);
  if (address >= g_stack_of_solve) return false;
  return stack != 0 && address < stack + kFurthest && stack < address + kFurthest;
}

uint64_t code_of(const void* context) {
#if defined(__x86_64__)
  return static_cast<uint64_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<const ucontext_t*>(context)->uc_mcontext.pc;
#else
  return 0;
#endif
}

// Of an instruction of the submission; 0 for any other.
uint64_t offset_in_submission(uint64_t code) {
  Dl_info file;
  if (!code || !dladdr(reinterpret_cast<void*>(code), &file) || !file.dli_fname) return 0;
  if (!g_submission || *g_submission != file.dli_fname) return 0;
  return code - reinterpret_cast<uint64_t>(file.dli_fbase);
}

// Where solve was: the innermost frame of the submission, as a copy may crash in the runtime or in
// the C library.
uint64_t place_of_crash(int signal, const void* context) {
  const uint64_t place = offset_in_submission(code_of(context));
  if (place || signal != SIGSEGV) return place;
  constexpr int kMost = 48;
  void* frames[kMost];
  const int count = backtrace(frames, kMost);
  for (int i = 0; i < count; ++i) {
    const uint64_t back = offset_in_submission(reinterpret_cast<uint64_t>(frames[i]) - 1);
    if (back) return back;
  }
  return 0;
}

[[noreturn]] void hand_over();

// An abort after a refused call, by assert() or an exception that nobody may throw: the plan knows
// the call that was refused. What damaged memory keeps from being handed over ends after a second.
void leave_by_abort() {
  constexpr unsigned kSeconds = 1;
  signal(SIGALRM, [](int) { raise(SIGABRT); });
  alarm(kSeconds);
  hand_over();
}

// The signals' default action is restored first, so that a fault in here still ends the process.
void on_crash(int number, siginfo_t* info, void* context) {
  signal(number, SIG_DFL);
  uint64_t address = reinterpret_cast<uint64_t>(info->si_addr);
  if (number == SIGSEGV && is_stack_overflow(address, context)) {
    g_shared->failure.reason = Reason::kStackOverflow;
    put("solve used up its stack: an endless recursion, or a large local array?",
        g_shared->failure.message);
  } else {
    g_describe_crash(number, address, &g_shared->failure);
    g_shared->crash = place_of_crash(number, context);
    if (number == SIGABRT && getpid() == g_case && g_has_failed()) leave_by_abort();
  }
  raise(number);
}

void catch_crashes() {
  static char stack[kSignalStackBytes];  // a stack of its own: solve may have used up the other
  stack_t alternative = {};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof stack;
  sigaltstack(&alternative, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(number, &action, nullptr);
}

std::string demangled(const std::string& symbol) {
  int status = 0;
  char* text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string name = text ? text : symbol;
  std::free(text);
  return name;
}

// Why the submission cannot be loaded, from dlerror's sentence: "PATH: undefined symbol: _Z3foov",
// "libx.so.1: cannot open shared object file: ...". Both begin with names that are known here or
// are no words of a student's, and only there they are looked for. The submission's path is left
// out: it says where the grader keeps its files, and differs from run to run.
[[noreturn]] void finish_unloaded(std::string said, const Submission& submission) {
  const std::string path = submission.path + ": ";
  const std::string undefined = "undefined symbol: ", missing = ": cannot open shared object file";
  if (said.starts_with(path)) said.erase(0, path.size());
  if (said.starts_with(undefined)) {
    std::string symbol = said.substr(undefined.size());
    symbol = symbol.substr(0, symbol.find_first_of(" ,\n"));
    finish("error", Reason::kUndefinedSymbol,
           "The submission uses " + demangled(symbol) +
               ", which neither it nor the CUDA runtime defines: is a function declared and not "
               "written, or a library needed?",
           symbol);
  }
  const std::string sentence = "The submission cannot be loaded: " + said + ".";
  auto file = read_elf_file(submission.path);
  for (const std::string& library : file ? file->needed : std::vector<std::string>{}) {
    if (said.starts_with(library + missing))
      finish("error", Reason::kMissingLibrary, sentence, library);
  }
  finish("error", Reason::kNotLoadable, sentence);
}

// Which functions named solve there are, when the right one is missing.
std::string missing_solve(const Submission& submission) {
  std::string sentence = "There is no function `" + submission.signature.declaration() + "`";
  auto file = read_elf_file(submission.path);
  for (const std::string& symbol : file ? file->symbols : std::vector<std::string>{}) {
    std::string name = demangled(symbol);
    if (name.rfind("solve(", 0) == 0 || name == "solve")
      return sentence + "; the one there is `" + name + "`" +
             (symbol == "solve" ? " with extern \"C\"." : ".");
  }
  return sentence + ".";
}

template <typename Function>
Function* function_of(void* library, const char* name) {
  auto* function = reinterpret_cast<Function*>(dlsym(library, name));
  if (!function)
    finish("failed", Reason::kNone,
           std::string("libcudart has no ") + name + ": is it another CUDA runtime?");
  return function;
}

// Any signature with one call: on x86-64 and AArch64 the registers for words (pointers, ints) and
// those for floats are filled each in their own order, and what a function does not take it does
// not look at. plan::signature_of keeps both within the registers that there are.
void call_solve(void* solve, const plan::Signature& signature,
                const std::vector<plan::Argument>& arguments,
                const TilewiseRecordPointers& pointers) {
  uint64_t word[plan::kMostWords] = {};
  float number[plan::kMostFloats] = {};
  size_t words = 0, numbers = 0, arrays = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const plan::Parameter& parameter = signature.parameters[i];
    if (parameter.is_array) {
      word[words++] = pointers.array[arrays++];
    } else if (parameter.element == plan::Element::kInt) {
      word[words++] = static_cast<uint64_t>(int64_t{arguments[i].whole});
    } else {
      number[numbers++] = arguments[i].number;
    }
  }
  using Solve = void (*)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, float, float,
                         float, float);
  reinterpret_cast<Solve>(solve)(word[0], word[1], word[2], word[3], word[4], word[5], number[0],
                                 number[1], number[2], number[3]);
}

[[noreturn]] void finish_exception(const std::string& type, const std::string& what) {
  finish("crashed", Reason::kException,
         "solve threw " + type + (what.empty() ? "" : ": " + what) + ".", type);
}

// Standard output and error lead to `words`, so that nobody mistakes them for a report; of all else
// that the recorder has open the child keeps the parcel's end only.
int keep_only(int parcel, int words) {
  constexpr int kKept = 3;
  if (words >= 0) {
    dup2(words, STDOUT_FILENO);
    dup2(words, STDERR_FILENO);
    setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // what came before a crash is kept
  }
  dup2(parcel, kKept);
  constexpr long kCloseRange =
      436;  // its name is in glibc since 2.34; the number is every processor's
  if (syscall(kCloseRange, kKept + 1, ~0u, 0) != 0) {
    for (int fd = kKept + 1; fd < 1024; ++fd) close(fd);
  }
  return kKept;
}

void send_modules(TilewiseRecordModules* modules, int parcel) {
  TilewiseRecordText texts[kMostModules];
  char message[sizeof g_shared->failure.message];
  int count = modules(texts, kMostModules, message, sizeof message);
  if (count < 0) finish("error", Reason::kDeviceCode, message);
  if (count > kMostModules)
    finish("error", Reason::kTooMuch, "The submission registers too many modules.");
  for (int i = 0; i < count; ++i) {
    if (!send_module(parcel, texts[i].target, texts[i].text, texts[i].bytes))
      finish("error", Reason::kTooMuch, "The device code could not be handed over.");
  }
}

[[noreturn]] void hand_over() {
  std::fflush(stdout);
  TilewiseRecordText plan;
  char message[sizeof g_shared->failure.message];
  if (!g_end(&plan, message, sizeof message)) finish("crashed", Reason::kNoPlan, message);
  if (!send_plan(g_parcel, plan.text, plan.bytes))
    finish("crashed", Reason::kTooMuch, "What solve asked for is too much to be handed over.");
  finish("ok", Reason::kNone, "");
}

// Many programs leave by exit() when a CUDA call fails. What counts is the call that failed, and
// the plan knows it: such an exit is a return of solve.
void at_exit() {
  if (getpid() == g_case && !g_shared->is_done && g_has_failed()) hand_over();
}

// Others throw: what was refused says more than that somebody looked.
void leave_if_refused() {
  if (g_has_failed()) hand_over();
}

}  // namespace

[[noreturn]] void record_case(const Submission& submission, const Case& one, Shared* shared,
                              int parcel, int words) {
  g_shared = shared;
  g_submission = &submission.path;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);
  parcel = keep_only(parcel, words);
  void* cudart = dlopen(submission.cudart.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!cudart)
    finish("failed", Reason::kNone,
           std::string("cannot load the recording CUDA runtime: ") + dlerror());
  auto* modules = function_of<TilewiseRecordModules>(cudart, TILEWISE_RECORD_MODULES);
  auto* begin = function_of<TilewiseRecordBegin>(cudart, TILEWISE_RECORD_BEGIN);
  g_end = function_of<TilewiseRecordEnd>(cudart, TILEWISE_RECORD_END);
  g_has_failed = function_of<TilewiseRecordFailed>(cudart, TILEWISE_RECORD_FAILED);
  g_describe_crash = function_of<TilewiseRecordCrash>(cudart, TILEWISE_RECORD_CRASH);
  catch_crashes();
  forbid_signals_to_others();

  void* library = dlopen(submission.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) finish_unloaded(dlerror(), submission);
  void* solve = dlsym(library, submission.signature.symbol().c_str());
  if (!solve) finish("missing-solve", Reason::kNoSolve, missing_solve(submission));
  send_modules(modules, parcel);
  TilewiseRecordCase description = {
      one.id.c_str(), submission.signature.text.c_str(), one.j, one.k, one.l, one.sizes.c_str()};
  const std::vector<plan::Argument> arguments =
      submission.signature.is_product() ? arguments_of(submission.signature, one.j, one.k, one.l)
                                        : arguments_of(submission.signature, one.sizes);
  TilewiseRecordPointers pointers = {};
  if (!begin(&description, &pointers))
    finish("crashed", Reason::kNoMemory, "The submission leaves no memory for the case's arrays.");

  g_parcel = parcel;
  g_case = getpid();
  std::atexit(at_exit);
  g_shared->in_solve = true;
  g_stack_of_solve = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  try {
    call_solve(solve, submission.signature, arguments, pointers);
  } catch (const std::exception& error) {
    leave_if_refused();
    finish_exception(demangled(typeid(error).name()), error.what());
  } catch (...) {
    leave_if_refused();
    finish_exception("an exception", "");
  }
  hand_over();
}

}  // namespace tilewise::record
