#define _GNU_SOURCE

#include "walls.h"

#include "../../sandbox/rules.h"

#include <errno.h>

#define DEVICES (LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK)

// Returns 0 even if the kernel has no Landlock.
static int close_files(const struct walls *walls)
{
    struct rules rules = find_landlock();
    if (rules.version == 0)
        return 0;
    // Moving files between directories of the profile.
    const unsigned long long refer = rules.version >= 2 ? LANDLOCK_ACCESS_FS_REFER : 0;
    const unsigned long long own = (FIRST_VERSION & ~DEVICES & ~LANDLOCK_ACCESS_FS_EXECUTE) | rules.truncate | refer;
    const char *homes[] = { walls->home, NULL };
    const char *programs[] = { walls->program, NULL };
    // Its processes read their own directories in /proc. Those of others show only command lines, because Landlock
    // denies what it denies to ptrace. Chromium's own sandbox also writes the users of a namespace.
    const char *processes[] = { "/proc", NULL };
    if (create_rules(&rules, refer, LANDLOCK_ACCESS_NET_BIND_TCP | LANDLOCK_ACCESS_NET_CONNECT_TCP)
        || allow_system(&rules)
        || allow(&rules, homes, own)
        || allow(&rules, programs, RUN)
        || allow(&rules, processes, walls->namespaces ? READ | LIST | LANDLOCK_ACCESS_FS_WRITE_FILE : READ | LIST)
        || allow(&rules, walls->readable, READ | LIST))
        return -1;
    for (const int *port = walls->ports; rules.version >= 4 && *port; port++) {
        const struct landlock_net_port_attr rule = { LANDLOCK_ACCESS_NET_CONNECT_TCP, *port };
        if (syscall(SYS_landlock_add_rule, rules.descriptor, LANDLOCK_RULE_NET_PORT, &rule, 0))
            return -1;
    }
    return enforce(&rules);
}

#define ALL 0xffffffff
// Without SOCK_CLOEXEC and SOCK_NONBLOCK.
#define TYPE 0xf
#define NAMESPACES (CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | 0x02000000)

static int close_calls(const struct walls *walls)
{
    // Chromium's own sandbox needs namespaces. For anything else, they are a large attack surface of the kernel.
    const unsigned namespaces = walls->namespaces ? 0 : NAMESPACES;
    const struct sock_filter filter[] = {
        KNOWN_CALLS,
        // TCP, whose ports Landlock checks, and nothing that can contact other programs on this machine.
        ONLY_WITH_BITS(socket, 0, ALL, AF_INET, AF_INET6), ONLY_WITH_BITS(socket, 1, TYPE, SOCK_STREAM, SOCK_STREAM),
        ONLY_WITH_BITS(socketpair, 1, TYPE, SOCK_STREAM, SOCK_SEQPACKET), DENY(listen),
        DENY(io_uring_setup), DENY(io_uring_enter), DENY(io_uring_register),
        NO_CLONE3, FORBID_WITH_FLAG(clone, 0, namespaces), FORBID_WITH_FLAG(unshare, 0, namespaces), DENY(setns),
        // Signals to all processes. Landlock denies signals to other sandboxes (Linux 6.12).
        DENY_WITH(kill, 0, ALL),
        // A program that is not in a file that Landlock knows.
        DENY(execveat),
        DENY(ptrace), DENY(process_vm_readv), DENY(process_vm_writev), DENY(pidfd_getfd), DENY(pidfd_send_signal),
        DENY(bpf), DENY(perf_event_open), DENY(userfaultfd), DENY(keyctl), DENY(add_key), DENY(request_key), DENY(mount),
        DENY(open_by_handle_at),
        DENIED_LEGACY_CALLS DENIED_CALLS,
        ALLOW_OTHERS,
    };
    return set_filter(filter, sizeof filter / sizeof filter[0]);
}

int enter_walls(const struct walls *walls)
{
    if (limit_process())
        return -1;
    if (prepare_process())
        return is_best_effort() ? 0 : -1;
    if (close_files(walls))
        return -1;
    return close_calls(walls) && !is_best_effort() ? -1 : 0;
}
