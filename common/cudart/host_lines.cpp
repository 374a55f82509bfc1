#include "cudart/host_lines.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace warpsim::cudart {

namespace {

constexpr size_t kMostKnown = 256;  // places that are looked up: each takes a process

// A loaded file, and an address as its debugging information counts.
struct Place {
  std::string file;
  const void* base = nullptr;
  uint64_t address = 0;
};

Place place_of(const void* address) {
  Dl_info info = {};
  link_map* map = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || !map)
    return {};
  // A return address is that of the next instruction, which may be of another line.
  const uint64_t within = reinterpret_cast<uint64_t>(address) - 1 - map->l_addr;
  return {map->l_name[0] == '\0' ? "/proc/" + std::to_string(getpid()) + "/exe" : map->l_name,
          info.dli_fbase, within};
}

std::string output_of(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  // Not with the program's environment, which has other programs load this library.
  const char* path = std::getenv("PATH");
  std::string search = std::string("PATH=") + (path ? path : "/usr/bin:/bin");
  std::array<char*, 2> environment = {search.data(), nullptr};
  pid_t child = 0;
  const bool started = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(),
                                    environment.data()) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  char piece[4096];
  for (ssize_t got; started && (got = read(ends[0], piece, sizeof piece)) > 0;)
    text.append(piece, static_cast<size_t>(got));
  close(ends[0]);
  if (started) waitpid(child, nullptr, 0);
  return text;
}

// CUDA's headers, and what nvcc writes between a launch and its kernel.
bool is_of_cuda(std::string_view file) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  return name.starts_with("cuda_runtime") || name == "host_runtime.h" || name.ends_with(".stub.c");
}

// The first line of "PATH:12 (discriminator 2)" that there is.
HostLine parse(std::string_view text) {
  while (!text.empty()) {
    const std::string_view row = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(row.size() + 1, text.size()));
    const std::string_view place = row.substr(0, row.find(" ("));
    const size_t colon = place.rfind(':');
    if (colon == std::string_view::npos || place.starts_with("??")) continue;
    HostLine found{std::string(place.substr(0, colon)), 0};
    std::from_chars(place.data() + colon + 1, place.data() + place.size(), found.line);
    if (found.line != 0 && !is_of_cuda(found.file)) return found;
  }
  return {};
}

}  // namespace

HostLines::Stack HostLines::stack() {
  constexpr int kMost = 24;
  void* frames[kMost];
  const int count = backtrace(frames, kMost);
  return Stack(frames, frames + (count > 0 ? count : 0));  // braces would list the two pointers
}

HostLine HostLines::at(const Stack& stack) {
  constexpr size_t kMostFrames = 6;
  const auto found = known_.find(stack);
  if (found != known_.end()) return found->second;
  if (known_.size() >= kMostKnown) return {};
  static const char kMine = 0;
  const void* mine = place_of(&kMine).base;
  std::vector<Place> places;
  for (const void* address : stack) {
    Place place = place_of(address);
    if (place.base != nullptr && place.base != mine) places.push_back(std::move(place));
    if (places.size() == kMostFrames) break;
  }
  HostLine line;
  std::vector<std::string> command;
  for (size_t i = 0; i < places.size() && line.line == 0; ++i) {
    if (command.empty()) command = {"addr2line", "-i", "-e", places[i].file};
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(places[i].address));
    command.push_back(text);
    // Frames of one file are asked for together.
    if (i + 1 < places.size() && places[i + 1].file == places[i].file) continue;
    line = parse(output_of(command));
    command.clear();
  }
  return known_[stack] = line;
}

}  // namespace warpsim::cudart
