// Declares O_PATH.
#define _GNU_SOURCE

#include "rules.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

// Exceeds the maximum size of any result.
#define FILE_BYTES (4ull << 30)
// RLIMIT_NPROC counts all threads of the user and does not apply to root.
#define MAX_THREADS 8192
// Rights that apply to a file itself. The kernel rejects a rule for a file that contains other rights.
#define ON_FILES (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_EXECUTE \
                  | LANDLOCK_ACCESS_FS_TRUNCATE)

// Drops all root capabilities except reading, because the project may be in another user's folder. A process can only
// be inspected by one with at least the same capabilities, so an engine cannot inspect the service, with or without
// Landlock.
static int drop_capabilities(void)
{
    struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct held[2], kept[2] = { { 0 } };
    if (syscall(SYS_capget, &header, held))
        return -1;
    kept[0].effective = kept[0].permitted = held[0].permitted & 1 << CAP_DAC_READ_SEARCH;
    return syscall(SYS_capset, &header, kept);
}

int limit_process(void)
{
    // No core dumps, to keep documents out of them. The file size is limited so that no file fills the disk, and the
    // number of threads so that the service, which has no such limit, can still start some.
    const struct rlimit none = { 0, 0 }, file = { FILE_BYTES, FILE_BYTES };
    struct rlimit threads;
    if (getrlimit(RLIMIT_NPROC, &threads))
        return -1;
    if (threads.rlim_max > MAX_THREADS)
        threads.rlim_max = MAX_THREADS;
    if (threads.rlim_cur > threads.rlim_max)
        threads.rlim_cur = threads.rlim_max;
    return setrlimit(RLIMIT_CORE, &none) || setrlimit(RLIMIT_FSIZE, &file) || setrlimit(RLIMIT_NPROC, &threads)
           || drop_capabilities() ? -1 : 0;
}

int prepare_process(void)
{
    // An engine that hangs never notices the end of stdin, so it is killed with its parent. Without no_new_privs, an
    // ordinary user can set neither Landlock rules nor a filter.
    return prctl(PR_SET_PDEATHSIG, SIGKILL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -1 : 0;
}

bool is_best_effort(void)
{
    const char *mode = getenv("SANDBOX");
    return mode && !strcmp(mode, "best-effort");
}

struct rules find_landlock(void)
{
    const int version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    const struct rules rules = { version < 1 ? 0 : version, version >= 3 ? LANDLOCK_ACCESS_FS_TRUNCATE : 0, -1 };
    return rules;
}

int create_rules(struct rules *rules, unsigned long long files, unsigned long long network)
{
    struct landlock_ruleset_attr attributes = { FIRST_VERSION | rules->truncate | files };
    // An older kernel accepts unknown fields as long as they are zero.
    if (rules->version >= 4)
        attributes.handled_access_net = network;
    if (rules->version >= 6)
        attributes.scoped = LANDLOCK_SCOPE_SIGNAL | LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET;
    rules->descriptor = syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
    return rules->descriptor < 0 ? -1 : 0;
}

int allow(const struct rules *rules, const char **paths, unsigned long long access)
{
    for (; *paths; paths++) {
        struct landlock_path_beneath_attr rule = { access, open(*paths, O_PATH | O_CLOEXEC | O_DIRECTORY) };
        if (rule.parent_fd < 0) {
            rule.allowed_access &= ON_FILES;
            rule.parent_fd = open(*paths, O_PATH | O_CLOEXEC);
        }
        if (rule.parent_fd < 0)
            continue;
        const int failed = syscall(SYS_landlock_add_rule, rules->descriptor, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
        close(rule.parent_fd);
        if (failed)
            return -1;
    }
    return 0;
}

int allow_system(const struct rules *rules)
{
    static const char *devices[] = { "/dev/null", "/dev/urandom", "/dev/zero", NULL };
    static const char *loader[] = { LOADER, NULL };
    return allow(rules, devices, READ | LANDLOCK_ACCESS_FS_WRITE_FILE | rules->truncate) || allow(rules, loader, RUN) ? -1 : 0;
}

int enforce(struct rules *rules)
{
    const int failed = syscall(SYS_landlock_restrict_self, rules->descriptor, 0);
    close(rules->descriptor);
    return failed;
}

int set_filter(const struct sock_filter *filter, size_t count)
{
    const struct sock_fprog program = { count, (struct sock_filter *)filter };
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
