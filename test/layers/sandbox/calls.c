// Makes every call that is denied to an engine in the sandbox, in a harmless way, and prints the number of
// each error, 0 for none.
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/sockios.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Defines numbers that the headers do not have yet.
#include "../../../layers/sandbox/denied.h"

#define TRY(name, call) (errno = 0, (call) < 0 ? 0 : (errno = 0), dprintf(1, "%s %d\n", name, errno))
#define CALL(name, ...) TRY(#name, syscall(SYS_##name, __VA_ARGS__))

#define OTHER(name) { #name, SYS_##name }

// Calls that fail with these arguments in any case: no pointer, descriptor or process has the number -1.
static const struct { const char *name; long number; } others[] = {
    OTHER(acct), OTHER(fchmodat2), OTHER(file_setattr), OTHER(finit_module), OTHER(fremovexattr), OTHER(fsopen),
    OTHER(fspick), OTHER(init_module), OTHER(kcmp), OTHER(kexec_load), OTHER(lremovexattr), OTHER(migrate_pages),
    OTHER(mount_setattr), OTHER(move_mount), OTHER(move_pages), OTHER(mq_unlink), OTHER(msgctl), OTHER(msgrcv),
    OTHER(msgsnd), OTHER(open_tree), OTHER(pivot_root), OTHER(process_madvise), OTHER(process_mrelease),
    OTHER(quotactl), OTHER(cachestat), OTHER(fsconfig), OTHER(fsmount), OTHER(io_setup), OTHER(listmount),
    OTHER(lsm_set_self_attr), OTHER(open_tree_attr), OTHER(quotactl_fd), OTHER(statmount), OTHER(removexattrat),
    OTHER(semctl), OTHER(semop), OTHER(semtimedop), OTHER(setxattrat),
    OTHER(shmat), OTHER(shmctl), OTHER(swapon), OTHER(syslog), OTHER(umount2),
#ifdef SYS_chmod
    OTHER(futimesat), OTHER(lchown),
#endif
};

// In a new process, which exits immediately.
static int ended(int process)
{
    if (process == 0)
        _exit(0);
    return process;
}

int main(int count, char **arguments)
{
    // Started by itself.
    if (count > 1)
        return 0;
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
    CALL(execveat, -1, "", 0, 0, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW);
    CALL(ptrace, PTRACE_TRACEME, 0, 0, 0);
    CALL(process_vm_readv, self, 0, 0, 0, 0, 0);
    CALL(process_vm_writev, self, 0, 0, 0, 0, 0);
    CALL(pidfd_open, self, 0);
    CALL(pidfd_getfd, -1, 0, 0);
    CALL(pidfd_send_signal, -1, 0, 0, 0);
    CALL(prlimit64, parent, RLIMIT_CPU, 0, &limit);
    TRY("clone", ended(syscall(SYS_clone, SIGCHLD | CLONE_FILES, 0, 0, 0, 0)));
    TRY("a thread with files of its own", syscall(SYS_clone, CLONE_THREAD, 0, 0, 0, 0));
    TRY("CLOSE_RANGE_UNSHARE", syscall(SYS_close_range, 5000, 5000, 2));
    CALL(memfd_create, "", -1);
    TRY("memfd_secret", syscall(447, -1));
    CALL(vmsplice, -1, 0, 0, 0);
    TRY("PR_SET_DUMPABLE", prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
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

    // Watching directories, file attributes, priorities, and objects that outlive a process. Each call would be harmless.
    char *own[] = { "calls", "again", NULL };
    struct sched_param priority = { 0 };
    CALL(inotify_init1, 0);
    CALL(inotify_add_watch, -1, ".", 0);
    CALL(fanotify_init, 0, 0);
    CALL(fanotify_mark, -1, 0, 0, -1, ".");
    CALL(name_to_handle_at, -1, "", 0, 0, 0);
    CALL(fchmod, -1, 0);
    CALL(fchmodat, -1, "", 0);
    CALL(fchown, -1, -1, -1);
    CALL(fchownat, -1, "", -1, -1, 0);
    CALL(utimensat, -1, "", 0, 0);
    CALL(setxattr, "", "user.x", "", 0, 0);
    CALL(lsetxattr, "", "user.x", "", 0, 0);
    CALL(fsetxattr, -1, "user.x", "", 0, 0);
    CALL(removexattr, "", "user.x");
    CALL(setpriority, 0, self, 0);
    CALL(ioprio_set, 1, self, 0);
    CALL(sched_setparam, self, &priority);
    CALL(sched_setscheduler, self, SCHED_OTHER, &priority);
    CALL(sched_setattr, self, 0, 0);
    CALL(sched_setaffinity, self, 0, 0);
    CALL(shmget, 0, 1, 0600 | 01000);
    CALL(semget, 0, 1, 0600 | 01000);
    CALL(msgget, 0, 0600 | 01000);
    CALL(mq_open, "", 0, 0, 0);
    CALL(syncfs, -1);
    CALL(truncate, "", 0);
    TRY("truncation without writing", syscall(SYS_openat, -1, "", O_TRUNC));
    TRY("truncation without access", syscall(SYS_openat, -1, "", O_TRUNC | 3));
    CALL(openat2, -1, "", 0, 0);
    TRY("an unnamed file", syscall(SYS_openat, -1, "", UNNAMED_FILE | O_DIRECTORY | O_WRONLY, 0600));
    TRY("a directory that cannot be listed", syscall(SYS_mkdirat, -1, "", 0300));
    TRY("a directory that cannot be changed", syscall(SYS_mkdirat, -1, "", 0500));
    TRY("a umask for its user", syscall(SYS_umask, 0400));
    TRY("F_SETLEASE", fcntl(-1, F_SETLEASE, F_WRLCK));
    TRY("F_NOTIFY", fcntl(-1, F_NOTIFY, 0));
    CALL(sendmsg, -1, 0, 0);
    CALL(sendmmsg, -1, 0, 0, 0);
    CALL(fsync, -1);
    CALL(fdatasync, -1);
    CALL(sync_file_range, -1, 0, 0, 0);
    CALL(msync, -1, 0, MS_SYNC);
    TRY("FS_IOC_SETFLAGS", ioctl(-1, FS_IOC_SETFLAGS, 0));
    TRY("FS_IOC32_SETFLAGS", ioctl(-1, FS_IOC32_SETFLAGS, 0));
    TRY("FS_IOC_FSSETXATTR", ioctl(-1, FS_IOC_FSSETXATTR, 0));
    for (size_t index = 0; index < sizeof others / sizeof others[0]; index++)
        TRY(others[index].name, syscall(others[index].number, -1, -1, -1, -1, -1, -1));
    TRY("PR_SET_PDEATHSIG", prctl(PR_SET_PDEATHSIG, SIGKILL));
    TRY("setsid", setsid());
    TRY("setpgid", setpgid(0, 0));
#ifdef SYS_chmod
    CALL(inotify_init, 0);
    CALL(chmod, "", 0);
    CALL(chown, "", -1, -1);
    CALL(utime, "", 0);
    CALL(utimes, "", 0);
    TRY("older truncation without writing", syscall(SYS_open, "", O_TRUNC));
    TRY("an older unnamed file", syscall(SYS_open, "", UNNAMED_FILE | O_DIRECTORY | O_WRONLY, 0600));
    TRY("an older directory that cannot be listed", syscall(SYS_mkdir, "", 0300));
#endif

    // Calls that Lambda denies to a whole function.
    CALL(prctl, PR_GET_DUMPABLE, 0, 0, 0, 0);
    CALL(seccomp, 0, 0, 0);
    CALL(chroot, "/no/such/folder");
    CALL(fallocate, -1, 0, 0, 1);
    CALL(landlock_create_ruleset, 0, 0, 1);
    TRY("clone into a namespace", ended(syscall(SYS_clone, SIGCHLD | CLONE_NEWUSER, 0, 0, 0, 0)));

    // Chromium's sandbox denies these, and allows similar ones.
    TRY("datagrams", socket(AF_INET, SOCK_DGRAM, 0));
    CALL(listen, -1, 0);
    CALL(io_uring_register, -1, 0, 0, 0);
    TRY("a signal to everybody", kill(-1, 0));

    // Calls that must be allowed.
    TRY("a signal to itself", syscall(SYS_tgkill, self, self, 0));
    TRY("its own limits", getrlimit(RLIMIT_NOFILE, &limit));
    TRY("a file that is written anew", openat(AT_FDCWD, "/dev/null", O_WRONLY | O_TRUNC));
    TRY("a file that is changed anew", openat(AT_FDCWD, "/dev/null", O_RDWR | O_TRUNC));
    TRY("a usual umask", (int)umask(0077));

    // Late, because it changes what this process may do.
    TRY("a namespace", syscall(SYS_unshare, CLONE_NEWUSER));

    // Last, because if one is allowed it replaces this program: this program itself, and one in memory.
    CALL(execve, "/proc/self/exe", own, 0);
    const int memory = syscall(SYS_memfd_create, "program", 0);
    TRY("a program in memory", syscall(SYS_execveat, memory, "", own, 0, AT_EMPTY_PATH));
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    TRY("the descriptor of the first start", dup3(1, files.rlim_max, 0));
    TRY("its program", syscall(SYS_execveat, files.rlim_max, "", own, 0, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW));
    // An absolute path overrides the descriptor.
    TRY("a program by its path", syscall(SYS_execveat, files.rlim_max, "/proc/self/exe", own, 0, AT_EMPTY_PATH));
    TRY("a program by a link",
        syscall(SYS_execveat, files.rlim_max, "/proc/self/exe", own, 0, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW));
    files.rlim_max += 1;
    TRY("more descriptors", setrlimit(RLIMIT_NOFILE, &files));
    return 0;
}
