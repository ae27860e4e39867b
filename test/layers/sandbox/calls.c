// Makes every call that an engine in the sandbox must not make, harmlessly where one is allowed, and prints the number of
// each error, 0 for none.
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRY(name, call) (errno = 0, (call) < 0 ? 0 : (errno = 0), dprintf(1, "%s %d\n", name, errno))
#define CALL(name, ...) TRY(#name, syscall(SYS_##name, __VA_ARGS__))

// In a new process; it ends at once.
static int ended(int process)
{
    if (process == 0)
        _exit(0);
    return process;
}

int main(void)
{
    const int parent = getppid();
    const int self = getpid();
    int pair[2];
    struct rlimit limit;
    siginfo_t signal = { 0 };
    signal.si_code = SI_QUEUE;
    struct f_owner_ex owner = { F_OWNER_PID, parent };

    TRY("socket", socket(AF_INET, SOCK_STREAM, 0));
    TRY("socket of the machine", socket(AF_UNIX, SOCK_STREAM, 0));
    TRY("datagrams of the machine", socket(AF_UNIX, SOCK_DGRAM, 0));
    TRY("socketpair", socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
    CALL(connect, -1, 0, 0);
    CALL(io_uring_setup, 0, 0);
    CALL(io_uring_enter, -1, 0, 0, 0, 0, 0);
    CALL(execveat, -1, "", 0, 0, AT_EMPTY_PATH);
    CALL(ptrace, PTRACE_TRACEME, 0, 0, 0);
    CALL(process_vm_readv, self, 0, 0, 0, 0, 0);
    CALL(process_vm_writev, self, 0, 0, 0, 0, 0);
    CALL(pidfd_open, self, 0);
    CALL(pidfd_getfd, -1, 0, 0);
    CALL(pidfd_send_signal, -1, 0, 0, 0);
    CALL(prlimit64, parent, RLIMIT_CPU, 0, &limit);
    TRY("clone", ended(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)));
    CALL(clone3, 0, 0);
#ifdef SYS_fork
    TRY("fork", ended(syscall(SYS_fork)));
    TRY("vfork", ended(vfork()));
#endif
    CALL(bpf, 0, 0, 0);
    CALL(perf_event_open, 0, 0, 0, 0, 0);
    CALL(userfaultfd, 0);
    CALL(keyctl, 0, 0, 0, 0, 0);
    CALL(add_key, 0, 0, 0, 0, 0);
    CALL(request_key, 0, 0, 0, 0);
    CALL(mount, 0, 0, 0, 0, 0);
    CALL(unshare, 0);
    CALL(setns, -1, 0);
    CALL(open_by_handle_at, -1, 0, 0);
    CALL(kill, parent, 0);
    CALL(tgkill, parent, parent, 0);
    CALL(tkill, parent, 0);
    CALL(rt_sigqueueinfo, parent, 0, &signal);
    CALL(rt_tgsigqueueinfo, parent, parent, 0, &signal);
    TRY("F_SETOWN", fcntl(1, F_SETOWN, parent));
    TRY("F_SETOWN_EX", fcntl(1, F_SETOWN_EX, &owner));
    TRY("FIOSETOWN", ioctl(1, FIOSETOWN, &parent));
    TRY("SIOCSPGRP", ioctl(1, SIOCSPGRP, &parent));

    // What Lambda denies to a whole function.
    CALL(prctl, PR_GET_DUMPABLE, 0, 0, 0, 0);
    CALL(seccomp, 0, 0, 0);
    CALL(chroot, "/no/such/folder");
    CALL(fallocate, -1, 0, 0, 1);
    CALL(landlock_create_ruleset, 0, 0, 1);
    TRY("clone into a namespace", ended(syscall(SYS_clone, SIGCHLD | CLONE_NEWUSER, 0, 0, 0, 0)));

    // What must be allowed.
    TRY("a signal to itself", syscall(SYS_tgkill, self, self, 0));
    TRY("its own limits", getrlimit(RLIMIT_NOFILE, &limit));
    return 0;
}

// See layers/build/compile.ts.
void __ours_start_main(int (*program)(void))
{
    _exit(program());
}
