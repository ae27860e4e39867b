// Starts a program under the system call filter that Lambda is known to put around a function:
//
//   filter <program> <argument>...
//
// Users of Lambda reported what it denies: prctl and nested seccomp (openai/codex#38779, #4725), ptrace, chroot, mount
// and namespaces (hashicorp/terraform-exec#172, chromedp/chromedp#720), subreapers (krallin/tini#227), fallocate. The
// kernel there (5.10) has no Landlock. It exits with 3 where it cannot set the filter and with 4 where it cannot start
// the program.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define NEW_NAMESPACE (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)
#define FIELD(name) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define FAIL(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define DENY(call, error) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), FAIL(error)

int main(int count, char **arguments)
{
    if (count < 2)
        return 2;
    const struct sock_filter filter[] = {
        FIELD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        FIELD(nr),
        DENY(prctl, EPERM), DENY(seccomp, EPERM), DENY(ptrace, EPERM), DENY(chroot, EPERM), DENY(pivot_root, EPERM),
        DENY(mount, EPERM), DENY(umount2, EPERM), DENY(setns, EPERM), DENY(unshare, EPERM), DENY(fallocate, EPERM),
        DENY(keyctl, EPERM), DENY(add_key, EPERM), DENY(request_key, EPERM), DENY(bpf, EPERM),
        DENY(perf_event_open, EPERM), DENY(clone3, ENOSYS), DENY(landlock_create_ruleset, ENOSYS),
        DENY(landlock_add_rule, ENOSYS), DENY(landlock_restrict_self, ENOSYS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3), FIELD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NEW_NAMESPACE, 0, 1), FAIL(EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { sizeof filter / sizeof filter[0], (struct sock_filter *)filter };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return 3;
    execv(arguments[1], arguments + 1);
    return 4;
}
