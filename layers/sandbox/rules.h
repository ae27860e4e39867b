// Parts of the sandboxes of engines and of the browser: limits, Landlock rules and filter instructions.
#ifndef RULES_H
#define RULES_H

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>

// Must follow the system's headers, because it needs the numbers of the calls.
#include "denied.h"

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define LOADER "/lib64/ld-linux-x86-64.so.2"
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#define LOADER "/lib/ld-linux-aarch64.so.1"
#endif

// Limits this process and drops its capabilities. Returns -1 if it must not continue.
int limit_process(void);
// Makes this process exit with its parent, and prepares it for rules and a filter. Returns -1 with `errno` if that is
// not possible.
int prepare_process(void);
// Whether the operator accepts a kernel that does not support part of the sandbox, such as Lambda's.
bool is_best_effort(void);

// All rights of Landlock's first version. Truncation is added if the kernel distinguishes it from writing.
#define FIRST_VERSION ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)
#define READ LANDLOCK_ACCESS_FS_READ_FILE
#define LIST LANDLOCK_ACCESS_FS_READ_DIR
#define RUN (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE)

// Rights that are denied unless a rule allows them.
struct rules {
    // Version of Landlock, 0 if the kernel has none.
    int version;
    // The right to truncate a file, or 0 if the kernel does not support it.
    unsigned long long truncate;
    int descriptor;
};

// Detects the version of Landlock.
struct rules find_landlock(void);
// Denies all rights of the first version, truncation, signals to and abstract sockets of other processes, and the
// given rights.
int create_rules(struct rules *rules, unsigned long long files, unsigned long long network);
// Allows rights on files and folders in a NULL-terminated list. A missing path needs no rule.
int allow(const struct rules *rules, const char **paths, unsigned long long access);
// Allows the devices that every program opens, and the loader.
int allow_system(const struct rules *rules);
// Applies the rules to this process permanently.
int enforce(struct rules *rules);

// Filters system calls permanently.
int set_filter(const struct sock_filter *filter, size_t count);

#define FIELD(name) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define FAIL(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define DENY(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), FAIL(EACCES)
#define MISSING(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), FAIL(ENOSYS)
// Reports success without making the call.
#define SKIP(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), FAIL(0)
#define UNSUPPORTED(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), FAIL(EOPNOTSUPP)
#define DENY_EPERM(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), FAIL(EPERM)
// Compares the low half of an argument: a jump by 0 leads to the denial, a jump by 1 skips it.
#define JUDGE(call, argument, test, value, hit, miss, error)                      \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 4), FIELD(args[argument]), \
    BPF_JUMP(BPF_JMP | (test) | BPF_K, (unsigned)(value), hit, miss), FAIL(error), FIELD(nr)
#define DENY_WITH(call, argument, value) JUDGE(call, argument, BPF_JEQ, value, 0, 1, EACCES)
#define SKIP_WITH_FLAG(call, argument, flags) JUDGE(call, argument, BPF_JSET, flags, 0, 1, 0)
#define SKIP_WITH(call, argument, value) JUDGE(call, argument, BPF_JEQ, value, 0, 1, 0)
#define ONLY_WITH(call, argument, value) JUDGE(call, argument, BPF_JEQ, value, 1, 0, EACCES)
#define ONLY_WITH_FLAG(call, argument, flag) JUDGE(call, argument, BPF_JSET, flag, 1, 0, EACCES)
#define DENY_WITH_FLAG(call, argument, flags) JUDGE(call, argument, BPF_JSET, flags, 0, 1, EACCES)
#define DENY_EPERM_WITH_FLAG(call, argument, flags) JUDGE(call, argument, BPF_JSET, flags, 0, 1, EPERM)
// Denies a call unless some bits of an argument have one of two values.
#define ONLY_WITH_BITS(call, argument, bits, one, other)                                                \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 6), FIELD(args[argument]),                        \
    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, one, 2, 0),           \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other, 1, 0), FAIL(EACCES), FIELD(nr)
// Denies a call if some bits of an argument have one of two values.
#define DENY_BITS(call, argument, bits, one, other)                                                     \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 6), FIELD(args[argument]),                        \
    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, one, 1, 0),           \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other, 0, 1), FAIL(EACCES), FIELD(nr)
// Set in the numbers of the x32 interface, which are other names for the same calls.
#define X32_CALL 0x40000000

// Starts a filter. Allows only calls of this architecture, without x32.
#define KNOWN_CALLS                                                                                       \
    FIELD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),                                 \
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS), FIELD(nr),                                       \
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_CALL, 0, 1), FAIL(EACCES)

// clone3 keeps its flags in memory, which a filter cannot read. The C library falls back to clone.
#define NO_CLONE3 MISSING(clone3)

#define ALLOW_OTHERS BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

#endif
