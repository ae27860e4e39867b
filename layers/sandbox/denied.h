// System calls that a converter does not need, as filter instructions. DENY returns EACCES. DENY_EPERM returns EPERM,
// which programs expect for a file whose attributes they may not change, so that libuv continues to copy a file. SKIP
// reports success without doing anything.

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

// O_TMPFILE without O_DIRECTORY, which programs combine it with.
#define UNNAMED_FILE 020000000
#define TRUNCATE O_TRUNC
#define ACCESS_MODE 3
// Permissions that let the owner of a directory list it and delete its entries.
#define OWNER 0700

#define DENIED_CALLS                                                                                                         \
    /* Files of a conversion need not survive a power failure, and waiting for the disk would delay others. */               \
    SKIP(fsync), SKIP(fdatasync), SKIP(sync_file_range), SKIP_WITH_FLAG(msync, 2, MS_SYNC),                                  \
    /* Block watching directories, which Landlock does not cover: it would reveal names of other conversions. */             \
    DENY(inotify_init1), DENY(inotify_add_watch), DENY(fanotify_init), DENY(fanotify_mark), DENY(name_to_handle_at),         \
    /* Block changing file attributes, which Landlock does not cover either. */                                              \
    DENY_EPERM(fchmod), DENY_EPERM(fchmodat), DENY_EPERM(fchmodat2), DENY_EPERM(fchown), DENY_EPERM(fchownat),               \
    DENY_EPERM(utimensat), DENY_EPERM(setxattr), DENY_EPERM(lsetxattr), DENY_EPERM(fsetxattr), DENY_EPERM(setxattrat),       \
    DENY_EPERM(removexattr), DENY_EPERM(lremovexattr), DENY_EPERM(fremovexattr), DENY_EPERM(removexattrat),                  \
    DENY_EPERM(file_setattr), DENY_WITH(ioctl, 1, FS_IOC_SETFLAGS), DENY_WITH(ioctl, 1, FS_IOC32_SETFLAGS),                  \
    DENY_WITH(ioctl, 1, FS_IOC_FSSETXATTR),                                                                                  \
    /* Before Linux 6.2, Landlock does not cover truncation: neither by path nor by opening a file without writing to it. */ \
    DENY(truncate), DENY_BITS(openat, 2, TRUNCATE | ACCESS_MODE, TRUNCATE, TRUNCATE | 3),                                    \
    /* The flags are in memory, which a filter cannot read. Programs fall back to openat. */                                 \
    MISSING(openat2),                                                                                                        \
    /* Block files that would evade the disk quota or survive cleanup. */                                                    \
    DENY_EPERM_WITH_FLAG(openat, 2, UNNAMED_FILE), ONLY_WITH_BITS(mkdirat, 2, OWNER, OWNER, OWNER),                          \
    DENY_EPERM_WITH_FLAG(umask, 0, OWNER),                                                                                   \
    /* Fills the disk faster than the limit can notice. The C library falls back to writing. */                              \
    UNSUPPORTED(fallocate),                                                                                                  \
    /* Leases make others wait when they open a file, and notifications reveal files in a directory. */                      \
    DENY_WITH(fcntl, 1, F_SETLEASE), DENY_WITH(fcntl, 1, F_NOTIFY),                                                          \
    /* Block changing priorities and CPU affinity, even of the process itself. */                                            \
    DENY_EPERM(setpriority), DENY_EPERM(ioprio_set), DENY_EPERM(sched_setparam), DENY_EPERM(sched_setscheduler),             \
    DENY_EPERM(sched_setattr), DENY_EPERM(sched_setaffinity), DENY(migrate_pages), DENY(move_pages), DENY(process_madvise),  \
    DENY(process_mrelease),                                                                                                  \
    /* Block access to memory, descriptors and limits of other processes, and signals to them. */                            \
    DENY(ptrace), DENY(process_vm_readv), DENY(process_vm_writev), DENY(pidfd_getfd), DENY(pidfd_send_signal),               \
    ONLY_WITH(prlimit64, 0, 0),                                                                                              \
    /* Block leaving the process group, which the service uses to kill a program and to count its memory. */                 \
    DENY(setsid), DENY(setpgid),                                                                                             \
    /* Block memory, semaphores and queues that outlive a process and allow communication with others. */                    \
    DENY(shmget), DENY(shmat), DENY(shmctl), DENY(semget), DENY(semop), DENY(semtimedop), DENY(semctl), DENY(msgget),        \
    DENY(msgsnd), DENY(msgrcv), DENY(msgctl), DENY(mq_open), DENY(mq_unlink),                                                \
    /* Block calls in a queue, which no filter sees. */                                                                      \
    DENY(io_uring_setup), DENY(io_uring_enter), DENY(io_uring_register),                                                     \
    /* Block parts of the kernel with a large attack surface. */                                                             \
    DENY(bpf), DENY(perf_event_open), DENY(userfaultfd), DENY(keyctl), DENY(add_key), DENY(request_key), DENY(mount),        \
    DENY(setns), DENY(open_by_handle_at),                                                                                    \
    /* Block system-wide disks, mounts and other privileged parts of the kernel. */                                          \
    DENY(sync), DENY(syncfs), DENY(umount2), DENY(pivot_root), DENY(open_tree), DENY(move_mount), DENY(fsopen),              \
    DENY(fspick), DENY(mount_setattr), DENY(swapon), DENY(quotactl), DENY(acct), DENY(syslog), DENY(kcmp),                   \
    DENY(kexec_load), DENY(init_module), DENY(finit_module), DENY(open_tree_attr), DENY(fsconfig), DENY(fsmount),            \
    DENY(statmount), DENY(listmount), DENY(quotactl_fd), DENY(cachestat), DENY(lsm_set_self_attr), DENY(io_setup)

// Older calls for the same purposes, which arm64 never had.
#ifdef SYS_chmod
#define DENIED_LEGACY_CALLS                                                                                                  \
    DENY(inotify_init), DENY_EPERM(chmod), DENY_EPERM(chown), DENY_EPERM(lchown), DENY_EPERM(utime), DENY_EPERM(utimes),     \
    DENY_EPERM(futimesat), DENY_BITS(open, 1, TRUNCATE | ACCESS_MODE, TRUNCATE, TRUNCATE | 3),                               \
    DENY_EPERM_WITH_FLAG(open, 1, UNNAMED_FILE), ONLY_WITH_BITS(mkdir, 1, OWNER, OWNER, OWNER),
#else
#define DENIED_LEGACY_CALLS
#endif
