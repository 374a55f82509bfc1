#include "harness/record/confine.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace tilewise::record {

namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr uint32_t kArchitecture = 0;
#endif

constexpr uint32_t kNumber = offsetof(seccomp_data, nr);
constexpr uint32_t kArch = offsetof(seccomp_data, arch);
constexpr uint32_t kFirstArgument = offsetof(seccomp_data, args);  // its low word

sock_filter load(uint32_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset);
}
sock_filter if_equal(uint32_t value, uint8_t skip_if_true, uint8_t skip_if_false) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, skip_if_true, skip_if_false);
}
sock_filter leave(uint32_t verdict) {
  return BPF_STMT(BPF_RET | BPF_K, verdict);
}

}  // namespace

void forbid_signals_to_others() {
  if (kArchitecture == 0) return;
  constexpr uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
  sock_filter steps[] = {
      load(kArch),
      if_equal(kArchitecture, 1, 0),
      leave(kRefuse),
      load(kNumber),
      if_equal(SYS_kill, 6, 0),  // to "is it this process?"
      if_equal(SYS_tgkill, 5, 0),
      if_equal(SYS_rt_tgsigqueueinfo, 4, 0),
      if_equal(SYS_tkill, 5, 0),  // names a thread of any process; the C library uses tgkill
      if_equal(SYS_rt_sigqueueinfo, 2, 0),
      if_equal(SYS_pidfd_send_signal, 3, 0),
      leave(SECCOMP_RET_ALLOW),
      load(kFirstArgument),
      if_equal(static_cast<uint32_t>(getpid()), 1, 0),
      leave(kRefuse),
      leave(SECCOMP_RET_ALLOW),
  };
  sock_fprog program = {sizeof steps / sizeof steps[0], steps};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

}  // namespace tilewise::record
