// Declares CLONE_THREAD and F_SETOWN_EX.
#define _GNU_SOURCE

#include "sandbox.h"

#include "rules.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/prctl.h>
#include <unistd.h>

#define CHANGE (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE \
                | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR)

static int restrict_files(const struct sandbox *sandbox)
{
    struct rules rules = find_landlock();
    if (rules.version == 0)
        return SANDBOX_FILES_OPEN;
    const char *directories[] = { sandbox->directory, NULL };
    const char *programs[] = { sandbox->program, NULL };
    if (create_rules(&rules, 0, 0)
        || allow_system(&rules)
        || allow(&rules, sandbox->readable, READ | LIST)
        || allow(&rules, directories, READ | LIST | CHANGE | rules.truncate)
        || allow(&rules, programs, RUN))
        return -1;
    return enforce(&rules);
}

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2
#endif

// Allows execveat only for descriptor `file`, or never if it is 0.
#define START(file) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execveat, 0, 4), FIELD(args[0]), \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)(file), (file) ? 1 : 0, 0), FAIL(EACCES), FIELD(nr)

static int restrict_calls(const struct sandbox *sandbox)
{
    const struct sock_filter filter[] = {
        KNOWN_CALLS,
        // The network. Datagrams of a socket pair could be sent to any address.
        DENY(socket), DENY(socketpair), DENY(connect),
        // Block other programs and processes. The sandbox's own program is started by a descriptor that is closed as
        // soon as it runs. An absolute path would override the descriptor but, without links, leads to no file that
        // Landlock does not cover.
        DENY(execve), START(sandbox->start), ONLY_WITH(execveat, 4, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW),
        DENY(pidfd_open),
        // Allow threads but no processes.
        ONLY_WITH_FLAG(clone, 0, CLONE_THREAD), NO_CLONE3,
        // Block memory and files that the limits could not count: pages without a process, descriptors of one thread,
        // and descriptors that wait in a socket.
        DENY(sendmsg), DENY(sendmmsg),
        DENY(memfd_create), DENY(memfd_secret), DENY(vmsplice), ONLY_WITH_FLAG(clone, 0, CLONE_FILES),
        DENY_WITH_FLAG(close_range, 2, CLOSE_RANGE_UNSHARE), DENY_WITH(prctl, 0, PR_SET_DUMPABLE),
#ifdef SYS_fork
        DENY(fork), DENY(vfork),
#endif
        DENY(unshare),
        // Allow signals only to this process, including those that a file sends to its owner.
        ONLY_WITH(kill, 0, getpid()), ONLY_WITH(tgkill, 0, getpid()), DENY(tkill), ONLY_WITH(rt_sigqueueinfo, 0, getpid()),
        ONLY_WITH(rt_tgsigqueueinfo, 0, getpid()), DENY_WITH(fcntl, 1, F_SETOWN), DENY_WITH(fcntl, 1, F_SETOWN_EX),
        DENY_WITH(ioctl, 1, FIOSETOWN), DENY_WITH(ioctl, 1, SIOCSPGRP),
        // Block outliving the parent.
        DENY_WITH(prctl, 0, PR_SET_PDEATHSIG),
        DENIED_LEGACY_CALLS DENIED_CALLS,
        ALLOW_OTHERS,
    };
    return set_filter(filter, sizeof filter / sizeof filter[0]);
}

int enter_sandbox(const struct sandbox *sandbox)
{
    if (limit_process())
        return -1;
    if (prepare_process())
        return errno == EPERM && is_best_effort() ? SANDBOX_FILES_OPEN | SANDBOX_CALLS_OPEN : -1;
    const int files = restrict_files(sandbox);
    if (files < 0)
        return -1;
    if (restrict_calls(sandbox))
        return is_best_effort() ? files | SANDBOX_CALLS_OPEN : -1;
    return files;
}

void enter_engine_sandbox(char **arguments)
{
    const struct sandbox sandbox = { (const char **)arguments + 1, arguments[0], NULL, 0 };
    if (enter_sandbox(&sandbox) < 0)
        _exit(3);
}
