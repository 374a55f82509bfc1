// Device functions that the system provides: vprintf, __assertfail, malloc, free. Arguments are the
// call's parameter rows.

#include <cstdio>
#include <cstring>

#include "warpsim/exec/access.h"
#include "warpsim/exec/call_params.h"
#include "warpsim/finding_text.h"

namespace warpsim::ops {

namespace {

// Bytes at a generic address; false when they are nobody's.
bool read_generic(const Warp& w, int lane, uint64_t address, void* target, uint64_t bytes) {
  const LaunchContext& launch = *w.worker->launch;
  if (address - kLocalWindow < kWindowBytes) {
    const uint64_t at = address - kLocalWindow, stride = w.worker->local_bytes_per_thread;
    if (at > stride || bytes > stride - at) return false;
    std::memcpy(target, w.local + uint64_t(lane) * stride + at, bytes);
    return true;
  }
  if (address - kSharedWindow < kWindowBytes) {
    const uint64_t at = address - kSharedWindow, size = launch.shared_window_bytes;
    if (at > size || bytes > size - at) return false;
    std::memcpy(target, w.worker->shared + at, bytes);
    return true;
  }
  return launch.memory->read(address, target, bytes);
}

std::string read_string(const Warp& w, int lane, uint64_t address) {
  constexpr size_t kLongest = 4096;
  std::string text;
  for (char c;
       text.size() < kLongest && read_generic(w, lane, address + text.size(), &c, 1) && c != '\0';)
    text += c;
  return text;
}

// One conversion of a format: `%-8.3llf`, without the length modifiers.
struct Conversion {
  std::string flags;  // from % to before the length modifier
  char letter = 0;
  bool wide = false;  // an 8-byte integer
  int stars = 0;
  size_t length = 0;  // characters of the format consumed
};

Conversion parse_conversion(const std::string& format, size_t at) {
  Conversion c;
  size_t i = at + 1;
  c.flags = "%";
  for (; i < format.size() && std::strchr("-+ #0123456789.*", format[i]) != nullptr; ++i) {
    if (format[i] == '*') ++c.stars;
    c.flags += format[i];
  }
  for (; i < format.size() && std::strchr("hlLqjzt", format[i]) != nullptr; ++i) {
    if (format[i] != 'h' && format[i] != 'L') c.wide = true;
  }
  if (i < format.size()) c.letter = format[i++];
  c.length = i - at;
  return c;
}

class Arguments {
 public:
  Arguments(const Warp& w, int lane, uint64_t address) : w_(w), lane_(lane), address_(address) {}
  uint64_t next(uint64_t bytes) {
    at_ = (at_ + bytes - 1) / bytes * bytes;
    uint64_t value = 0;
    read_generic(w_, lane_, address_ + at_, &value, bytes);
    at_ += bytes;
    ++taken_;
    return value;
  }
  uint32_t taken() const { return taken_; }

 private:
  const Warp& w_;
  int lane_;
  uint64_t address_, at_ = 0;
  uint32_t taken_ = 0;
};

template <class... T>
std::string print(const std::string& format, T... values) {
  char buffer[512];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-security"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const int n = std::snprintf(buffer, sizeof buffer, format.c_str(), values...);
#pragma GCC diagnostic pop
  return n < 0 ? "" : std::string(buffer, std::min<size_t>(size_t(n), sizeof buffer - 1));
}

std::string print_one(const Warp& w, int lane, Conversion c, Arguments& arguments) {
  for (; c.stars > 0; --c.stars) {
    c.flags.replace(c.flags.find('*'), 1, std::to_string(int32_t(arguments.next(4))));
  }
  switch (c.letter) {
    case '%':
      return "%";
    case 'd':
    case 'i':
      return c.wide ? print(c.flags + "lld", (long long)(arguments.next(8)))
                    : print(c.flags + "d", int(int32_t(arguments.next(4))));
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      return c.wide ? print(c.flags + "ll" + c.letter, (unsigned long long)(arguments.next(8)))
                    : print(c.flags + c.letter, unsigned(arguments.next(4)));
    case 'c':
      return print(c.flags + "c", int(int32_t(arguments.next(4))));
    case 's':
      return print(c.flags + "s", read_string(w, lane, arguments.next(8)).c_str());
    case 'p':
      return print(c.flags + "p", reinterpret_cast<void*>(arguments.next(8)));
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      return print(c.flags + c.letter, std::bit_cast<double>(arguments.next(8)));
    default:
      return c.flags + c.letter;
  }
}

std::string formatted(const Warp& w, int lane, const std::string& format, Arguments& arguments) {
  std::string text;
  for (size_t i = 0; i < format.size();) {
    if (format[i] != '%') {
      text += format[i++];
      continue;
    }
    const Conversion c = parse_conversion(format, i);
    text += print_one(w, lane, c, arguments);
    i += c.length;
  }
  return text;
}

// An allocation takes far longer than an instruction, the longer the more bytes there are to
// prepare.
void use_heap(Worker& worker, uint64_t bytes) {
  constexpr uint64_t kAsInstructions = 16, kBytesOfInstruction = 64;
  worker.used += kAsInstructions + bytes / kBytesOfInstruction;
}

}  // namespace

// a = format, b = arguments, d = result: how many arguments the format took.
const Op* call_vprintf(Warp& w, const Op* op) {
  for_each_lane(w.mask, [&](int lane) {
    Arguments arguments(w, lane, param64(w, op->b, lane));
    w.worker->printed +=
        formatted(w, lane, read_string(w, lane, param64(w, op->a, lane)), arguments);
    if (op->d != 0) row<uint32_t>(w, op->d)[lane] = arguments.taken();
  });
  return op + 1;
}

// a = condition, b = file, c = line, e = function.
const Op* call_assertfail(Warp& w, const Op* op) {
  const int lane = __builtin_ctz(w.mask);
  Diagnostic facts;
  facts.code = Code::kAssert;
  facts.assertion = {.condition = read_string(w, lane, param64(w, op->a, lane)),
                     .function = read_string(w, lane, param64(w, op->e, lane)),
                     .file = read_string(w, lane, param64(w, op->b, lane)),
                     .line = param32(w, op->c, lane)};
  Diagnostic* d = w.worker->reporter->add(Code::kAssert, w, uint32_t(lane), op->place.function,
                                          op->instruction, uint64_t(__builtin_popcount(w.mask)));
  if (d != nullptr) d->assertion = facts.assertion;
  w.worker->halt(LaunchStatus::kAssert, 710, sentence(facts));
  return w.stop(op, WarpState::kFinished);
}

// a = size in bytes, d = address. Workers of a kernel that allocates take turns
// (has_to_run_in_order).
const Op* call_malloc(Warp& w, const Op* op) {
  for_each_lane(w.mask, [&](int lane) {
    const uint64_t bytes = param64(w, op->a, lane);
    const uint64_t address = bytes == 0 ? 0 : w.worker->launch->memory->allocate_in_heap(bytes);
    if (address != 0) use_heap(*w.worker, bytes);
    set_param64(w, op->d, lane, address);
  });
  return op + 1;
}

const Op* call_free(Warp& w, const Op* op) {
  LaunchContext& launch = *w.worker->launch;
  bool is_bad = false;
  for_each_lane(w.mask, [&](int lane) {
    const uint64_t address = param64(w, op->a, lane);
    use_heap(*w.worker, 0);
    if (address == 0) return;
    if (!launch.memory->is_in_heap(address)) {
      is_bad = true;
      return;
    }
    const AllocationRecord* record = MemoryView(*launch.memory).find(address);
    for (Worker* worker : launch.allocating) worker->forget(record);
    launch.memory->release(address);
  });
  if (!is_bad) return op + 1;
  w.worker->halt(LaunchStatus::kFault, 719,
                 "free() in a kernel was given an address that malloc() in a kernel had not "
                 "returned, or that had been freed already");
  return w.stop(op, WarpState::kFinished);
}

}  // namespace warpsim::ops
