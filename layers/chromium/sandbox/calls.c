#define _GNU_SOURCE

#include "walls.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

// After the system's headers: it needs the numbers of the calls.
#include "../../sandbox/denied.h"

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define FIELD(name) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define FAIL(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define DENY(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), FAIL(EACCES)
#define FORBID(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), FAIL(EPERM)
// Denies a call unless the low bits of an argument have one of two values.
#define ONLY_WITH(call, argument, bits, one, other)                                                    \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 6), FIELD(args[argument]),                       \
    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, one, 2, 0),          \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other, 1, 0), FAIL(EACCES), FIELD(nr)
#define DENY_WITH_FLAG(call, argument, flags)                                                          \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 4), FIELD(args[argument]),                       \
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, flags, 0, 1), FAIL(EPERM), FIELD(nr)

#define DENY_WITH(call, argument, value)                                                                   \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 4), FIELD(args[argument]),                       \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1), FAIL(EACCES), FIELD(nr)

#define ALL 0xffffffff
// Without SOCK_CLOEXEC and SOCK_NONBLOCK.
#define TYPE 0xf
#define NAMESPACES (CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | 0x02000000)
// A number that is not a system call.
#define NONE 0x3fffffff

int close_calls(const struct walls *walls)
{
    // Chromium's own sandbox needs namespaces. For anything else, they are a large attack surface of the kernel.
    const unsigned namespaces = walls->namespaces ? 0 : NAMESPACES;
    const struct sock_filter filter[] = {
        FIELD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        FIELD(nr),
        // The x32 numbers, which are other names for the same calls.
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), FAIL(EACCES),
        // TCP, whose ports Landlock checks, and nothing that can contact other programs on this machine.
        ONLY_WITH(socket, 0, ALL, AF_INET, AF_INET6), ONLY_WITH(socket, 1, TYPE, SOCK_STREAM, SOCK_STREAM),
        ONLY_WITH(socketpair, 1, TYPE, SOCK_STREAM, SOCK_SEQPACKET), DENY(listen),
        DENY(io_uring_setup), DENY(io_uring_enter), DENY(io_uring_register),
        // clone3 keeps its flags in memory, which a filter cannot read; the C library falls back to clone.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1), FAIL(ENOSYS),
        DENY_WITH_FLAG(clone, 0, namespaces), DENY_WITH_FLAG(unshare, 0, namespaces), DENY(setns),
        // Signals to all processes. Landlock denies signals to other sandboxes (Linux 6.12).
        DENY_WITH(kill, 0, ALL),
        // A program that is not in a file that Landlock knows.
        DENY(execveat),
        DENY(ptrace), DENY(process_vm_readv), DENY(process_vm_writev), DENY(pidfd_getfd), DENY(pidfd_send_signal),
        DENY(bpf), DENY(perf_event_open), DENY(userfaultfd), DENY(keyctl), DENY(add_key), DENY(request_key), DENY(mount),
        DENY(open_by_handle_at),
        DENIED_LEGACY_CALLS DENIED_CALLS,
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { sizeof filter / sizeof filter[0], (struct sock_filter *)filter };
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
