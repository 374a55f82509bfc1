#include "cli/run_program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "cudart/elf_file.h"
#include "cudart/report_file.h"
#include "cudart/sarif.h"
#include "cudart/session_report.h"
#include "cudart/shared_state.h"
#include "json/json.h"
#include "warpsim/device.h"

namespace warpsim::cli {

namespace {

namespace fs = std::filesystem;
using cudart::SharedState;

// As the shell would find it: a path, or a name looked for in PATH.
fs::path find_program(const std::string& name) {
  std::vector<fs::path> candidates;
  if (name.find('/') != std::string::npos) {
    candidates.push_back(name);
  } else if (const char* path = std::getenv("PATH")) {
    std::istringstream folders(path);
    for (std::string folder; std::getline(folders, folder, ':');)
      candidates.push_back(fs::path(folder) / name);
  }
  std::error_code ignored;
  for (const fs::path& candidate : candidates) {
    if (!fs::is_regular_file(candidate, ignored)) continue;
    if (access(candidate.c_str(), X_OK) != 0)
      throw CannotRun(candidate.string() + " is not executable.");
    return fs::absolute(candidate);
  }
  bool is_folder = fs::is_directory(name, ignored);
  throw CannotRun(is_folder ? name + " is a folder, not a program."
                            : "There is no program " + name + ".");
}

fs::path library_folder() {
  return fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib";
}

// Refuses programs that would not find our runtime. Returns the library to preload, empty if the
// search path is enough.
std::string check_program(const fs::path& program) {
  auto file = tilewise::read_elf_file(program.string());
  if (!file) return "";  // a script: what it starts inherits the search path
  int major = tilewise::needed_cudart(*file);
  if (major == 0 && file->has_device_code) {
    throw CannotRun(program.string() +
                    " has the CUDA runtime linked into it: build it with nvcc -cudart shared.");
  }
  if (major == 0) return "";
  fs::path library = library_folder() / ("libcudart.so." + std::to_string(major));
  if (!fs::exists(library)) {
    throw CannotRun(program.string() + " asks for CUDA " + std::to_string(major) +
                    "'s runtime; warpsim has those of CUDA 12 and 13.");
  }
  return file->has_rpath ? library.string() : "";
}

void set(const char* name, const std::string& value) {
  setenv(name, value.c_str(), 1);
}

void prepend(const char* name, const std::string& value) {
  const char* old = std::getenv(name);
  set(name, old && *old ? value + ":" + old : value);
}

void set_environment(const RunOptions& options, const std::string& preload, int shared_fd) {
  set("TILEWISE_CUDART", "live");
  set("TILEWISE_DEVICE", options.device);
  set("WARPSIM_CHECKS", options.checks);
  set("WARPSIM_MERGE_SHARED", options.merge_shared);
  set("WARPSIM_ENGINE", options.engine);
  set("WARPSIM_THREADS", std::to_string(options.threads));
  set("WARPSIM_BUDGET", std::to_string(options.budget));
  set("WARPSIM_SAMPLE", options.sample ? std::to_string(options.sample_seed) : "");
  set("WARPSIM_REPORT", options.report);
  set("WARPSIM_JSON", options.json.empty() ? "" : fs::absolute(options.json).string());
  set("WARPSIM_TRACE", options.trace.empty() ? "" : fs::absolute(options.trace).string());
  set("WARPSIM_TRACE_BLOCKS", options.trace_blocks);
  set("WARPSIM_TRACE_LINES", options.trace_lines);
  set("WARPSIM_TRACE_EVENTS",
      options.trace_events == 0 ? "" : std::to_string(options.trace_events));
  set("WARPSIM_SARIF", options.sarif.empty() ? "" : fs::absolute(options.sarif).string());
  set("WARPSIM_SARIF_ROOT",
      options.sarif_root.empty() ? "" : fs::absolute(options.sarif_root).string());
  set("WARPSIM_SHARED_FD", std::to_string(shared_fd));
  prepend("LD_LIBRARY_PATH", (library_folder() / "driver").string());
  prepend("LD_LIBRARY_PATH", library_folder().string());
  if (!preload.empty()) prepend("LD_PRELOAD", preload);
}

// What the program and this process have in common; stays mapped.
SharedState* share(int* fd) {
  *fd = memfd_create("warpsim", 0);
  const bool is_made = *fd >= 0 && ftruncate(*fd, SharedState::kBytes) == 0;
  void* memory = is_made ? mmap(nullptr, SharedState::kBytes, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_NORESERVE, *fd, 0)
                         : MAP_FAILED;
  if (memory == MAP_FAILED)
    throw CannotRun(std::string("Cannot make shared memory: ") + std::strerror(errno) + ".");
  return static_cast<SharedState*>(memory);
}

int exit_status(int wait_status, const SharedState& shared, int error_exitcode) {
  if (shared.refused) return kUnsupportedStatus;
  if (shared.findings && error_exitcode != 0) return error_exitcode;
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

void complain(const std::string& sentence) {
  std::fprintf(stderr, "warpsim: %s\n", sentence.c_str());
}

void write_to(const std::string& path, const std::string& text) {
  if (!cudart::write_report(path, text)) complain("cannot write the report to " + path + ".");
}

// Of a program that was ended before it could leave its report.
void leave_last_words(SharedState& shared, const RunOptions& options) {
  const uint32_t slot = shared.slot;
  const char* text = shared.place(slot);
  const auto words = tilewise::json_or_null({text, shared.sizes[slot - 1]});
  if (!words.is_object()) return;
  complain("the program ended too early for a whole report; this was known before:");
  if (words.contains("text")) std::fputs(words["text"].get<std::string>().c_str(), stderr);
  if (words.contains("json")) write_to(options.json, words["json"].get<std::string>());
  if (words.contains("sarif")) write_to(options.sarif, words["sarif"].get<std::string>());
}

// Of a program that never called the CUDA runtime.
void leave_empty_reports(const fs::path& program, const RunOptions& options) {
  const cudart::SessionReport nothing;
  if (!options.json.empty())
    write_to(options.json, to_json(nothing, load_device(options.device), program.string()));
  if (!options.sarif.empty())
    write_to(options.sarif, to_sarif(nothing, program.string(), options.sarif_root));
}

}  // namespace

int run_program(const std::vector<std::string>& command, const RunOptions& options) {
  fs::path program = find_program(command[0]);
  std::string preload = check_program(program);
  int shared_fd = -1;
  SharedState& shared = *share(&shared_fd);
  set_environment(options, preload, shared_fd);

  pid_t child = fork();
  if (child < 0)
    throw CannotRun(std::string("Cannot start a process: ") + std::strerror(errno) + ".");
  if (child == 0) {
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv(program.c_str(), arguments.data());
    std::fprintf(stderr, "warpsim: Cannot start %s: %s.\n", program.c_str(), std::strerror(errno));
    _exit(kUnsupportedStatus);
  }
  // An interrupt from the keyboard goes to both; the program decides what it means.
  signal(SIGINT, SIG_IGN);
  signal(SIGQUIT, SIG_IGN);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFSIGNALED(status)) {
    const std::string kernel = shared.kernel;
    complain(std::string("the program was ended by the signal ") + strsignal(WTERMSIG(status)) +
             (kernel.empty() ? "." : ", in the kernel " + kernel + "."));
  }
  if (shared.slot != 0)
    leave_last_words(shared, options);
  else if (shared.reports == 0)
    leave_empty_reports(program, options);
  return exit_status(status, shared, options.error_exitcode);
}

}  // namespace warpsim::cli
