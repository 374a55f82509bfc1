// NAME_ptsz and NAME_ptds are NAME, by a jump: for linkers that take no --defsym.

#define JUMP(name, target)                                                                    \
  __asm__(".text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n" WARPSIM_JUMP_TO \
          " " #target WARPSIM_PLT "\n");

#if defined(__x86_64__)
#define WARPSIM_JUMP_TO "jmp"
#define WARPSIM_PLT "@PLT"
#elif defined(__aarch64__)
#define WARPSIM_JUMP_TO "b"
#define WARPSIM_PLT ""
#else
#error "how does this processor jump?"
#endif

#include "jumps.inc"
