#include <stdexcept>
#include <string>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

void solve(const float*, const float*, float*, int) {
  for (pid_t target : {getppid(), pid_t(1), pid_t(2), pid_t(3)}) {
    if (target == getpid()) continue;
    std::string path = "/proc/" + std::to_string(target) + "/mem";
    if (open(path.c_str(), O_RDWR) >= 0) throw std::runtime_error("ATTACK SUCCEEDED: " + path);
    char byte = 0;
    iovec mine = {&byte, 1}, theirs = {reinterpret_cast<void*>(0x400000), 1};
    if (process_vm_readv(target, &mine, 1, &theirs, 1, 0) > 0)
      throw std::runtime_error("ATTACK SUCCEEDED");
  }
}
