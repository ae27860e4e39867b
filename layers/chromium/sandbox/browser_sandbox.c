#define _GNU_SOURCE

#include "browser_sandbox.h"

#include "../../sandbox/rules.h"

#include <errno.h>
#include <sys/prctl.h>
#include <unistd.h>

// Kinds of files that Chromium does not create in its home. They are denied because a link there could mislead the
// service, which counts and deletes the files.
#define SPECIAL_FILES (LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO \
                       | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_SYM)

// Restricts file access with Landlock. Returns 0 even if the kernel does not support it.
static int restrict_files(const struct browser_sandbox *sandbox)
{
    struct rules rules = find_landlock();
    if (rules.version == 0)
        return 0;
    // Allows moving files between directories of the profile.
    const unsigned long long refer = rules.version >= 2 ? LANDLOCK_ACCESS_FS_REFER : 0;
    const unsigned long long own = (FIRST_VERSION & ~SPECIAL_FILES & ~LANDLOCK_ACCESS_FS_EXECUTE) | rules.truncate | refer;
    const char *homes[] = { sandbox->home, NULL };
    const char *programs[] = { sandbox->program, NULL };
    // Chromium's processes read their own directories in /proc. In those of other processes, they can read only
    // command lines, because Landlock denies what it denies to ptrace. Chromium's own sandbox also writes the users
    // of a namespace.
    const char *processes[] = { "/proc", NULL };
    if (create_rules(&rules, refer, LANDLOCK_ACCESS_NET_BIND_TCP | LANDLOCK_ACCESS_NET_CONNECT_TCP)
        || allow_system(&rules)
        || allow(&rules, homes, own)
        || allow(&rules, programs, RUN)
        || allow(&rules, processes, sandbox->namespaces ? READ | LIST | LANDLOCK_ACCESS_FS_WRITE_FILE : READ | LIST)
        || allow(&rules, sandbox->readable, READ | LIST))
        return -1;
    for (const int *port = sandbox->ports; rules.version >= 4 && *port; port++) {
        const struct landlock_net_port_attr rule = { LANDLOCK_ACCESS_NET_CONNECT_TCP, *port };
        if (syscall(SYS_landlock_add_rule, rules.descriptor, LANDLOCK_RULE_NET_PORT, &rule, 0))
            return -1;
    }
    return enforce(&rules);
}

// Constants that the headers lack or define differently.
#define MSG_FASTOPEN_FLAG 0x20000000
#define TIOCSTI 0x5412
#define TIOCLINUX 0x541c

#define ALL 0xffffffff
// Level of TCP socket options.
#define TCP 6
// Socket and TCP options with smaller numbers are timeouts, buffer sizes and the like. Later ones choose an
// interface, attach filters or replace the protocol.
#define LATER_OPTIONS 25
// Socket type without SOCK_CLOEXEC and SOCK_NONBLOCK.
#define TYPE 0xf
#define NAMESPACES                                                                                        \
    (CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)

static int restrict_calls(const struct browser_sandbox *sandbox)
{
    // Chromium's own sandbox needs namespaces. Otherwise they are denied, because they are a large attack surface of
    // the kernel.
    const unsigned namespaces = sandbox->namespaces ? 0 : NAMESPACES;
    const struct sock_filter filter[] = {
        KNOWN_CALLS,
        // Allows only TCP, whose ports Landlock checks, and nothing that can contact other programs on this machine.
        ONLY_WITH_BITS(socket, 0, ALL, AF_INET, AF_INET6), ONLY_WITH_BITS(socket, 1, TYPE, SOCK_STREAM, SOCK_STREAM),
        // Landlock checks neither the ports of MPTCP and SCTP nor those of data that opens a connection.
        ONLY_WITH_BITS(socket, 2, ALL, 0, TCP), DENY_EPERM_WITH_FLAG(sendto, 3, MSG_FASTOPEN_FLAG),
        DENY_EPERM_WITH_FLAG(sendmsg, 2, MSG_FASTOPEN_FLAG), DENY_EPERM_WITH_FLAG(sendmmsg, 3, MSG_FASTOPEN_FLAG),
        ONLY_WITH_BITS(setsockopt, 1, ALL, SOL_SOCKET, TCP), JUDGE(setsockopt, 2, BPF_JGE, LATER_OPTIONS, 0, 1, EACCES),
        ONLY_WITH(socketpair, 0, AF_UNIX), ONLY_WITH_BITS(socketpair, 1, TYPE, SOCK_STREAM, SOCK_SEQPACKET), DENY(listen),
        NO_CLONE3, DENY_EPERM_WITH_FLAG(clone, 0, namespaces), DENY_EPERM_WITH_FLAG(unshare, 0, namespaces),
        // Denies signals to all processes. Landlock denies signals to other sandboxes (Linux 6.12).
        DENY_WITH(kill, 0, ALL),
        // Ignores attempts to hide a process's files from the service. Chromium's own processes try this but need not
        // succeed.
        SKIP_WITH(prctl, 0, PR_SET_DUMPABLE),
        // Denies starting a program that is not in a file that Landlock covers.
        DENY(execveat),
        // Denies input for a terminal.
        DENY_WITH(ioctl, 1, TIOCSTI), DENY_WITH(ioctl, 1, TIOCLINUX),
        DENIED_LEGACY_CALLS DENIED_CALLS,
        ALLOW_OTHERS,
    };
    return set_filter(filter, sizeof filter / sizeof filter[0]);
}

int enter_browser_sandbox(const struct browser_sandbox *sandbox)
{
    if (limit_process())
        return -1;
    if (prepare_process())
        return is_best_effort() ? 0 : -1;
    if (restrict_files(sandbox))
        return -1;
    return restrict_calls(sandbox) && !is_best_effort() ? -1 : 0;
}
