// System calls that a converter does not need, in the form of filter instructions. DENY returns EACCES, FORBID returns
// EPERM, which is what programs expect of a file whose attributes they may not change: libuv then goes on copying a file.

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

#define DENIED_CALLS                                                                                                         \
    /* Landlock does not cover watching directories: names of other conversions would show up. */                            \
    DENY(inotify_init1), DENY(inotify_add_watch), DENY(fanotify_init), DENY(fanotify_mark), DENY(name_to_handle_at),         \
    /* Nor file attributes. */                                                                                               \
    FORBID(fchmod), FORBID(fchmodat), FORBID(fchmodat2), FORBID(fchown), FORBID(fchownat), FORBID(utimensat),                \
    FORBID(setxattr), FORBID(lsetxattr), FORBID(fsetxattr), FORBID(setxattrat), FORBID(removexattr), FORBID(lremovexattr),   \
    FORBID(fremovexattr), FORBID(removexattrat), FORBID(file_setattr),                                                       \
    /* Priorities and CPU affinity, including its own. */                                                                    \
    FORBID(setpriority), FORBID(ioprio_set), FORBID(sched_setparam), FORBID(sched_setscheduler), FORBID(sched_setattr),      \
    FORBID(sched_setaffinity), DENY(migrate_pages), DENY(move_pages), DENY(process_madvise), DENY(process_mrelease),         \
    /* Memory, semaphores and queues that outlive a process and allow communication with others. */                          \
    DENY(shmget), DENY(shmat), DENY(shmctl), DENY(semget), DENY(semop), DENY(semtimedop), DENY(semctl), DENY(msgget),        \
    DENY(msgsnd), DENY(msgrcv), DENY(msgctl), DENY(mq_open), DENY(mq_unlink),                                                \
    /* System-wide disks, mounts and other privileged parts of the kernel. */                                                \
    DENY(sync), DENY(syncfs), DENY(umount2), DENY(pivot_root), DENY(open_tree), DENY(move_mount), DENY(fsopen),              \
    DENY(fspick), DENY(mount_setattr), DENY(swapon), DENY(quotactl), DENY(acct), DENY(syslog), DENY(kcmp),                   \
    DENY(kexec_load), DENY(init_module), DENY(finit_module)

// Older calls for the same purposes, which arm64 never had.
#ifdef SYS_chmod
#define DENIED_LEGACY_CALLS                                                                                                  \
    DENY(inotify_init), FORBID(chmod), FORBID(chown), FORBID(lchown), FORBID(utime), FORBID(utimes), FORBID(futimesat),
#else
#define DENIED_LEGACY_CALLS
#endif
