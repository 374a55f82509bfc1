"""A filter of system calls for sandboxed processes, as the kernel's BPF program.

Namespaces and limits decide what a process may reach and use. The filter takes away the calls that
neither a compiler nor a recorded `solve` needs and that lead around those limits: memory that
counts for no process, other processes' memory, new namespaces, sockets, seldom used parts of the
kernel. A refused call fails with EPERM; nothing is ended for trying.
"""

from __future__ import annotations

import platform
import struct

# Call numbers on (x86_64, aarch64): arch/x86/entry/syscalls/syscall_64.tbl, asm-generic/unistd.h.
_REFUSED = {
    # other processes
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438), "kcmp": (312, 272),
    # memory outside any process
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194),
    "msgget": (68, 186), "semget": (64, 190), "vmsplice": (278, 75),
    # namespaces and mounts
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39),
    "pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428),
    "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    # the network, though there is none, and local sockets
    "socket": (41, 198),
    # parts of the kernel that have often been broken into
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "fanotify_init": (300, 262), "quotactl": (179, 60), "acct": (163, 89),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142),
    "swapon": (167, 224), "swapoff": (168, 225),
}  # fmt: skip
_CLONE, _CLONE3 = (56, 220), (435, 435)
_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column, AUDIT_ARCH_*

_NEW_NAMESPACE = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_X32_BIT = 0x40000000  # calls of x86_64's 32-bit variant, whose numbers differ
_EPERM, _ENOSYS = 1, 38

# struct sock_filter's codes: BPF_LD | BPF_W | BPF_ABS and so on; offsets into seccomp_data.
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000


def program(machine: str | None = None) -> bytes | None:
    """The filter for `bwrap --seccomp`; None for a machine whose calls are not known here."""
    known = _ARCHITECTURES.get(machine or platform.machine())
    if known is None:
        return None
    column, architecture = known

    def refuse_if(code: int, value: int, error: int) -> bytes:
        return _step(code, value, 0, 1) + _step(_RETURN, _ERROR | error)

    steps = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, architecture, 1, 0),
        _step(_RETURN, _KILL),  # 32-bit code: none of our programs is
        _step(_LOAD, _NUMBER),
    ]
    if column == 0:
        steps += [_step(_AT_LEAST, _X32_BIT, 0, 1), _step(_RETURN, _KILL)]
    steps += [refuse_if(_EQUAL, numbers[column], _EPERM) for numbers in _REFUSED.values()]
    # clone3's flags lie in memory, where a filter cannot look; without it the C library uses clone.
    steps.append(refuse_if(_EQUAL, _CLONE3[column], _ENOSYS))
    steps += [
        _step(_EQUAL, _CLONE[column], 0, 3),
        _step(_LOAD, _FIRST_ARGUMENT),
        refuse_if(_ANY_BIT, _NEW_NAMESPACE, _EPERM),
        _step(_RETURN, _ALLOW),
    ]
    return b"".join(steps)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """One instruction; the jumps count the instructions to skip."""
    return struct.pack("=HBBI", code, if_true, if_false, value)
