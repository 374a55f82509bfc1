#include "/proc/self/environ"
#include "/proc/self/cmdline"
#include "/proc/self/maps"
asm(".incbin \"/proc/self/environ\"");
