// System calls that a converter does not need, in the form of filter instructions. DENY returns EACCES, FORBID returns
// EPERM, which is what programs expect of a file whose attributes they may not change: libuv then goes on copying a file.
// SKIP does nothing, successfully.

#include <linux/fs.h>
#include <sys/mman.h>

// Not in the compiler's headers yet; the numbers are the same on all architectures.
#ifndef SYS_setxattrat
#define SYS_setxattrat 463
#define SYS_removexattrat 466
#endif
#ifndef SYS_file_setattr
#define SYS_file_setattr 469
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_statmount
#define SYS_statmount 457
#define SYS_listmount 458
#endif
#ifndef SYS_lsm_set_self_attr
#define SYS_lsm_set_self_attr 460
#endif
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif
#ifndef SYS_quotactl_fd
#define SYS_quotactl_fd 443
#endif

// Without O_DIRECTORY, which programs combine it with.
#define UNNAMED_FILE 020000000
#define CUT O_TRUNC
#define ACCESS_MODE 3
// Lets the owner of a directory list it and delete its entries.
#define OWNER 0700

#define DENIED_CALLS                                                                                                         \
    /* Files of a conversion need not survive a power failure, and waiting for the disk makes others wait, too. */           \
    SKIP(fsync), SKIP(fdatasync), SKIP(sync_file_range), SKIP_WITH_FLAG(msync, 2, MS_SYNC),                                  \
    /* Landlock does not cover watching directories: names of other conversions would show up. */                            \
    DENY(inotify_init1), DENY(inotify_add_watch), DENY(fanotify_init), DENY(fanotify_mark), DENY(name_to_handle_at),         \
    /* Nor file attributes. */                                                                                               \
    FORBID(fchmod), FORBID(fchmodat), FORBID(fchmodat2), FORBID(fchown), FORBID(fchownat), FORBID(utimensat),                \
    FORBID(setxattr), FORBID(lsetxattr), FORBID(fsetxattr), FORBID(setxattrat), FORBID(removexattr), FORBID(lremovexattr),   \
    FORBID(fremovexattr), FORBID(removexattrat), FORBID(file_setattr), DENY_WITH(ioctl, 1, FS_IOC_SETFLAGS),                 \
    DENY_WITH(ioctl, 1, FS_IOC32_SETFLAGS), DENY_WITH(ioctl, 1, FS_IOC_FSSETXATTR),                                          \
    /* Before Linux 6.2, Landlock does not cover truncation: neither by path nor by opening a file without writing to it. */ \
    DENY(truncate), DENY_BITS(openat, 2, CUT | ACCESS_MODE, CUT, CUT | 3),                                                   \
    /* It keeps its flags in memory, which a filter cannot read; programs fall back to openat. */                            \
    MISSING(openat2),                                                                                                        \
    /* Files and directories that the limit of disk space could not count, or that could not be deleted. */                  \
    FORBID_WITH_FLAG(openat, 2, UNNAMED_FILE), ONLY_WITH_BITS(mkdirat, 2, OWNER, OWNER, OWNER),                              \
    FORBID_WITH_FLAG(umask, 0, OWNER),                                                                                       \
    /* It fills the disk faster than the limit can notice. The C library falls back to writing. */                           \
    UNSUPPORTED(fallocate),                                                                                                  \
    /* A lease makes others wait who open a file, and a notification tells about files in a directory. */                    \
    DENY_WITH(fcntl, 1, F_SETLEASE), DENY_WITH(fcntl, 1, F_NOTIFY),                                                          \
    /* Priorities and CPU affinity, including its own. */                                                                    \
    FORBID(setpriority), FORBID(ioprio_set), FORBID(sched_setparam), FORBID(sched_setscheduler), FORBID(sched_setattr),      \
    FORBID(sched_setaffinity), DENY(migrate_pages), DENY(move_pages), DENY(process_madvise), DENY(process_mrelease),         \
    /* Memory, descriptors, signals and limits of other processes. */                                                        \
    DENY(ptrace), DENY(process_vm_readv), DENY(process_vm_writev), DENY(pidfd_getfd), DENY(pidfd_send_signal),               \
    ONLY_WITH(prlimit64, 0, 0),                                                                                              \
    /* Leaving the process group, by which the service ends a program and counts its memory. */                              \
    DENY(setsid), DENY(setpgid),                                                                                             \
    /* Memory, semaphores and queues that outlive a process and allow communication with others. */                          \
    DENY(shmget), DENY(shmat), DENY(shmctl), DENY(semget), DENY(semop), DENY(semtimedop), DENY(semctl), DENY(msgget),        \
    DENY(msgsnd), DENY(msgrcv), DENY(msgctl), DENY(mq_open), DENY(mq_unlink),                                                \
    /* Calls in a queue, which no filter sees. */                                                                            \
    DENY(io_uring_setup), DENY(io_uring_enter), DENY(io_uring_register),                                                     \
    /* Parts of the kernel with a large attack surface. */                                                                   \
    DENY(bpf), DENY(perf_event_open), DENY(userfaultfd), DENY(keyctl), DENY(add_key), DENY(request_key), DENY(mount),        \
    DENY(setns), DENY(open_by_handle_at),                                                                                    \
    /* System-wide disks, mounts and other privileged parts of the kernel. */                                                \
    DENY(sync), DENY(syncfs), DENY(umount2), DENY(pivot_root), DENY(open_tree), DENY(move_mount), DENY(fsopen),              \
    DENY(fspick), DENY(mount_setattr), DENY(swapon), DENY(quotactl), DENY(acct), DENY(syslog), DENY(kcmp),                   \
    DENY(kexec_load), DENY(init_module), DENY(finit_module), DENY(open_tree_attr), DENY(fsconfig), DENY(fsmount),            \
    DENY(statmount), DENY(listmount), DENY(quotactl_fd), DENY(cachestat), DENY(lsm_set_self_attr), DENY(io_setup)

// Older calls for the same purposes, which arm64 never had.
#ifdef SYS_chmod
#define DENIED_LEGACY_CALLS                                                                                                  \
    DENY(inotify_init), FORBID(chmod), FORBID(chown), FORBID(lchown), FORBID(utime), FORBID(utimes), FORBID(futimesat),      \
    DENY_BITS(open, 1, CUT | ACCESS_MODE, CUT, CUT | 3), FORBID_WITH_FLAG(open, 1, UNNAMED_FILE),                            \
    ONLY_WITH_BITS(mkdir, 1, OWNER, OWNER, OWNER),
#else
#define DENIED_LEGACY_CALLS
#endif
