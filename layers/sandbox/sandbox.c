// O_PATH, CLONE_THREAD, F_SETOWN_EX
#define _GNU_SOURCE

#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// After the system's headers: it needs the numbers of the calls.
#include "denied.h"

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define LOADER "/lib64/ld-linux-x86-64.so.2"
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#define LOADER "/lib/ld-linux-aarch64.so.1"
#endif

// Larger than any result may be.
#define FILE_BYTES (4ull << 30)

#define CHANGE (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE \
                | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR)

// All rights of Landlock's first version. Truncation is added if the kernel distinguishes it from writing.
#define FIRST_VERSION ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)

// Rights that apply to a file itself; the kernel rejects a rule for a file that names others.
#define ON_FILES (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_EXECUTE \
                  | LANDLOCK_ACCESS_FS_TRUNCATE)

static int allow(int rules, const char **paths, unsigned long long access)
{
    for (; *paths; paths++) {
        struct landlock_path_beneath_attr rule = { access, open(*paths, O_PATH | O_CLOEXEC | O_DIRECTORY) };
        if (rule.parent_fd < 0) {
            rule.allowed_access &= ON_FILES;
            rule.parent_fd = open(*paths, O_PATH | O_CLOEXEC);
        }
        // A missing path needs no rule.
        if (rule.parent_fd < 0)
            continue;
        const int failed = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
        close(rule.parent_fd);
        if (failed)
            return -1;
    }
    return 0;
}

static int close_files(const struct sandbox *sandbox)
{
    static const char *devices[] = { "/dev/null", "/dev/urandom", "/dev/zero", NULL };
    const int version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1)
        return SANDBOX_FILES_OPEN;
    const unsigned long long truncate = version >= 3 ? LANDLOCK_ACCESS_FS_TRUNCATE : 0;
    const unsigned long long read = LANDLOCK_ACCESS_FS_READ_FILE;
    const unsigned long long list = LANDLOCK_ACCESS_FS_READ_DIR;
    const unsigned long long run = read | LANDLOCK_ACCESS_FS_EXECUTE;
    const char *programs[] = { sandbox->program, LOADER, NULL };
    const char *pipes[] = { sandbox->pipes, NULL };
    struct landlock_ruleset_attr attributes = { FIRST_VERSION | truncate };
    // An older kernel accepts fields that it does not know as long as they are zero.
    if (version >= 6)
        attributes.scoped = LANDLOCK_SCOPE_SIGNAL | LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET;
    const int rules = syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
    if (rules < 0
        || allow(rules, sandbox->readable, read | list)
        || allow(rules, sandbox->writable, read | list | CHANGE | truncate)
        || allow(rules, sandbox->entered, read | CHANGE | truncate)
        || allow(rules, devices, read | LANDLOCK_ACCESS_FS_WRITE_FILE | truncate)
        || allow(rules, programs, run)
        || allow(rules, pipes, LANDLOCK_ACCESS_FS_MAKE_SOCK))
        return -1;
    const int failed = syscall(SYS_landlock_restrict_self, rules, 0);
    close(rules);
    return failed;
}

#define FIELD(name) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define FAIL(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define REFUSE FAIL(EACCES)
#define DENY(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), REFUSE
#define FORBID(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), FAIL(EPERM)
// Compares the low half of an argument: a jump by 0 leads to the denial, a jump by 1 skips it.
#define JUDGE(call, argument, test, value, hit, miss)                             \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 4), FIELD(args[argument]), \
    BPF_JUMP(BPF_JMP | (test) | BPF_K, (unsigned)(value), hit, miss), REFUSE, FIELD(nr)
#define DENY_WITH(call, argument, value) JUDGE(call, argument, BPF_JEQ, value, 0, 1)
#define ONLY_WITH(call, argument, value) JUDGE(call, argument, BPF_JEQ, value, 1, 0)
#define ONLY_WITH_FLAG(call, argument, flag) JUDGE(call, argument, BPF_JSET, flag, 1, 0)
// A number that is neither a system call nor a socket family.
#define NONE 0x3fffffff

static int close_calls(const struct sandbox *sandbox)
{
    const struct sock_filter filter[] = {
        FIELD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        FIELD(nr),
        // The x32 numbers, which are other names for the same calls.
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), REFUSE,
        // The network, including io_uring. Datagrams of a socket pair could be sent to any address.
        ONLY_WITH(socket, 0, sandbox->pipes ? AF_UNIX : NONE), ONLY_WITH(socket, 1, SOCK_STREAM), DENY(socketpair), DENY(connect), DENY(io_uring_setup), DENY(io_uring_enter),
        // Other programs and processes. The sandbox's own program is started by a descriptor that is gone as soon as it runs.
        DENY(execve), ONLY_WITH(execveat, 0, sandbox->start ? sandbox->start : NONE), DENY(ptrace), DENY(process_vm_readv), DENY(process_vm_writev), DENY(pidfd_open),
        DENY(pidfd_getfd), DENY(pidfd_send_signal), ONLY_WITH(prlimit64, 0, 0),
        // Threads, but no processes. clone3 keeps its flags in memory, which a filter cannot read; the C library falls back
        // to clone.
        ONLY_WITH_FLAG(clone, 0, CLONE_THREAD),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1), FAIL(ENOSYS),
#ifdef SYS_fork
        DENY(fork), DENY(vfork),
#endif
        // Parts of the kernel that a converter does not need.
        DENY(bpf), DENY(perf_event_open), DENY(userfaultfd), DENY(keyctl), DENY(add_key), DENY(request_key), DENY(mount),
        DENY(unshare), DENY(setns), DENY(open_by_handle_at),
        // Signals only to itself, including those that a file sends to its owner.
        ONLY_WITH(kill, 0, getpid()), ONLY_WITH(tgkill, 0, getpid()), DENY(tkill), ONLY_WITH(rt_sigqueueinfo, 0, getpid()),
        ONLY_WITH(rt_tgsigqueueinfo, 0, getpid()), DENY_WITH(fcntl, 1, F_SETOWN), DENY_WITH(fcntl, 1, F_SETOWN_EX),
        DENY_WITH(ioctl, 1, FIOSETOWN), DENY_WITH(ioctl, 1, SIOCSPGRP),
        // Outliving its parent.
        DENY_WITH(prctl, 0, PR_SET_PDEATHSIG),
        DENIED_LEGACY_CALLS DENIED_CALLS,
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { sizeof filter / sizeof filter[0], (struct sock_filter *)filter };
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

// Drops all root capabilities except reading, because the project may be in another user's folder. A process can only be
// inspected by one with at least its capabilities, so an engine cannot inspect the service, with or without Landlock.
static int drop_capabilities(void)
{
    struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct held[2], kept[2] = { { 0 } };
    if (syscall(SYS_capget, &header, held))
        return -1;
    kept[0].effective = kept[0].permitted = held[0].permitted & 1 << CAP_DAC_READ_SEARCH;
    return syscall(SYS_capset, &header, kept);
}

// Whether the operator accepts a kernel that does not support part of the sandbox, such as Lambda's.
static int is_best_effort(void)
{
    const char *mode = getenv("SANDBOX");
    return mode && !strcmp(mode, "best-effort");
}

int enter_sandbox(const struct sandbox *sandbox)
{
    // Keeps documents out of core files, and ends with the parent: an engine that hangs never notices the end of stdin.
    // Limits the file size, so that no file fills the disk.
    const struct rlimit none = { 0, 0 }, file = { FILE_BYTES, FILE_BYTES };
    if (setrlimit(RLIMIT_CORE, &none) || setrlimit(RLIMIT_FSIZE, &file) || drop_capabilities())
        return -1;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        // Without no_new_privs an ordinary user can set neither Landlock rules nor a filter.
        return errno == EPERM && is_best_effort() ? SANDBOX_FILES_OPEN | SANDBOX_CALLS_OPEN : -1;
    const int files = close_files(sandbox);
    if (files < 0)
        return -1;
    if (close_calls(sandbox))
        return is_best_effort() ? files | SANDBOX_CALLS_OPEN : -1;
    return files;
}
