import { list } from '../../helpers/list.ts';
/** Calls that every sandbox denies, in addition to those that its own test names. */
export const DENIED: readonly string[] = [
  ...list`
    acct, finit_module, fsopen, fspick, init_module, kcmp, kexec_load, migrate_pages, mount_setattr, move_mount,
    move_pages, mq_unlink, msgctl, msgrcv, msgsnd, open_tree, pivot_root, process_madvise, process_mrelease, quotactl,
    semctl, semop, semtimedop, shmat, shmctl, swapon, syslog, umount2, open_tree_attr, fsconfig, fsmount, statmount,
    listmount, quotactl_fd, cachestat, lsm_set_self_attr, io_setup, truncate, truncation without writing,
    truncation without access, a directory that cannot be listed, a directory that cannot be changed, F_SETLEASE,
    F_NOTIFY
  `,
  ...(process.arch === 'x64'
    ? ['older truncation without writing', 'an older directory that cannot be listed']
    : []),
];

/** Calls that every sandbox forbids, as programs expect it of a file whose attributes they may not change. */
export const FORBIDDEN: readonly string[] = [
  ...list`
    fchmodat2, file_setattr, fremovexattr, lremovexattr, removexattrat, setxattrat, an unnamed file,
    a umask for its user
  `,
  ...(process.arch === 'x64' ? ['futimesat', 'lchown', 'an older unnamed file'] : []),
];
