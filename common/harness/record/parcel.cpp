#include "harness/record/parcel.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tilewise::record {

namespace {

constexpr char kModule = 'M', kPlan = 'P';
constexpr size_t kTargetBytes = 16;

struct Head {
  uint64_t bytes;
  char kind;
  char target[kTargetBytes];  // ends with a zero
};

bool write_all(int fd, const char* data, uint64_t bytes) {
  while (bytes > 0) {
    ssize_t written = ::write(fd, data, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    data += written;
    bytes -= static_cast<uint64_t>(written);
  }
  return true;
}

bool send(int fd, char kind, const char* target, const char* text, uint64_t bytes) {
  Head head = {};
  head.bytes = bytes;
  head.kind = kind;
  std::strncpy(head.target, target, kTargetBytes - 1);
  return write_all(fd, reinterpret_cast<const char*>(&head), sizeof head) &&
         write_all(fd, text, bytes);
}

}  // namespace

bool send_module(int fd, const char* target, const char* text, uint64_t bytes) {
  return send(fd, kModule, target, text, bytes);
}

bool send_plan(int fd, const char* text, uint64_t bytes) {
  return send(fd, kPlan, "", text, bytes);
}

std::optional<Parcel> parse_parcel(const std::string& bytes) {
  Parcel parcel;
  size_t at = 0;
  while (bytes.size() - at >= sizeof(Head)) {
    Head head;
    std::memcpy(&head, bytes.data() + at, sizeof head);
    at += sizeof head;
    if (head.bytes > bytes.size() - at) return std::nullopt;
    std::string text = bytes.substr(at, head.bytes);
    at += head.bytes;
    if (head.kind == kPlan) {
      parcel.plan = std::move(text);
      return at == bytes.size() ? std::optional(std::move(parcel)) : std::nullopt;
    }
    if (head.kind != kModule || parcel.modules.size() == kMostModules) return std::nullopt;
    head.target[kTargetBytes - 1] = 0;
    parcel.modules.push_back({head.target, std::move(text)});
  }
  return std::nullopt;
}

}  // namespace tilewise::record
