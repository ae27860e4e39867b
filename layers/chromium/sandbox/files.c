// O_PATH
#define _GNU_SOURCE

#include "walls.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined __x86_64__
#define LOADER "/lib64/ld-linux-x86-64.so.2"
#else
#define LOADER "/lib/ld-linux-aarch64.so.1"
#endif

// All rights of Landlock's first version.
#define FIRST_VERSION ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)
#define READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
// Rights that apply to a file itself; the kernel rejects a rule for a file that names others.
#define ON_FILES (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_EXECUTE \
                  | LANDLOCK_ACCESS_FS_TRUNCATE)

static int allow(int rules, const char *path, unsigned long long access)
{
    struct landlock_path_beneath_attr rule = { access, open(path, O_PATH | O_CLOEXEC | O_DIRECTORY) };
    if (rule.parent_fd < 0) {
        rule.allowed_access &= ON_FILES;
        rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
    }
    // A missing path needs no rule.
    if (rule.parent_fd < 0)
        return 0;
    const int failed = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
    return failed;
}

int close_files(const struct walls *walls)
{
    const int version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1)
        return 0;
    const unsigned long long truncate = version >= 3 ? LANDLOCK_ACCESS_FS_TRUNCATE : 0;
    // Moving files between directories of the profile.
    const unsigned long long refer = version >= 2 ? LANDLOCK_ACCESS_FS_REFER : 0;
    const unsigned long long write = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | truncate;
    const unsigned long long run = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE;
    const unsigned long long devices = LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK;
    struct landlock_ruleset_attr attributes = { FIRST_VERSION | truncate | refer };
    // An older kernel accepts fields that it does not know as long as they are zero.
    if (version >= 4)
        attributes.handled_access_net = LANDLOCK_ACCESS_NET_BIND_TCP | LANDLOCK_ACCESS_NET_CONNECT_TCP;
    if (version >= 6)
        attributes.scoped = LANDLOCK_SCOPE_SIGNAL | LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET;
    const int rules = syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
    if (rules < 0
        || allow(rules, walls->home, (FIRST_VERSION & ~devices & ~LANDLOCK_ACCESS_FS_EXECUTE) | truncate | refer)
        || allow(rules, "/dev/null", write)
        || allow(rules, "/dev/zero", write)
        || allow(rules, "/dev/urandom", write)
        || allow(rules, LOADER, run)
        || allow(rules, walls->program, run)
        // Its processes read their own directories in /proc. Those of others show only command lines, because Landlock
        // denies what it denies to ptrace. Chromium's own sandbox also writes the users of a namespace.
        || allow(rules, "/proc", walls->namespaces ? READ | LANDLOCK_ACCESS_FS_WRITE_FILE : READ))
        return -1;
    for (const char **path = walls->readable; *path; path++)
        if (allow(rules, *path, READ))
            return -1;
    for (const int *port = walls->ports; version >= 4 && *port; port++) {
        const struct landlock_net_port_attr rule = { LANDLOCK_ACCESS_NET_CONNECT_TCP, *port };
        if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_NET_PORT, &rule, 0))
            return -1;
    }
    const int failed = syscall(SYS_landlock_restrict_self, rules, 0);
    close(rules);
    return failed;
}
