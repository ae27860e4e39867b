// Makes the calls that only the browser's sandbox tells apart, and prints the number of each error, 0 for none.
// The working directory must be the browser's home.
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRY(name, call) (errno = 0, (call) < 0 ? 0 : (errno = 0), dprintf(1, "%s %d\n", name, errno))
#define OPTION(name, level, option) TRY(name, setsockopt(-1, level, option, &one, sizeof one))
#define FAST_OPEN 0x20000000

// Tries to hide this process. Returns 0 if that seems to succeed but has no effect.
static int stay_readable(void)
{
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
        return -1;
    if (prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1)
        return 0;
    errno = ECANCELED;
    return -1;
}

int main(void)
{
    const int one = 1, parent = getppid();
    int pair[2];
    struct rlimit limit = { 1000000, 1000000 };
    char byte = 0;
    struct iovec part = { &byte, 1 };
    struct msghdr message = { 0 };
    struct mmsghdr messages = { { 0 } };
    message.msg_iov = &part, message.msg_iovlen = 1;
    messages.msg_hdr = message;

    TRY("TCP", socket(AF_INET, SOCK_STREAM, IPPROTO_TCP));
    TRY("MPTCP", socket(AF_INET, SOCK_STREAM, 262));
    TRY("MPTCP over IPv6", socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 262));
    TRY("SCTP", socket(AF_INET, SOCK_STREAM, 132));
    TRY("SMC", socket(AF_INET, SOCK_STREAM, 256));
    TRY("sendto that connects", sendto(-1, &byte, 1, FAST_OPEN, NULL, 0));
    TRY("sendmsg that connects", sendmsg(-1, &message, FAST_OPEN | MSG_NOSIGNAL));
    TRY("sendmmsg that connects", sendmmsg(-1, &messages, 1, FAST_OPEN));
    TRY("sendto", sendto(-1, &byte, 1, MSG_NOSIGNAL, NULL, 0));
    TRY("sendmsg", sendmsg(-1, &message, MSG_NOSIGNAL));
    OPTION("TCP_NODELAY", IPPROTO_TCP, 1);
    OPTION("SO_KEEPALIVE", SOL_SOCKET, SO_KEEPALIVE);
    OPTION("TCP_FASTOPEN_CONNECT", IPPROTO_TCP, 30);
    OPTION("TCP_ULP", IPPROTO_TCP, 31);
    OPTION("SO_BINDTODEVICE", SOL_SOCKET, 25);
    OPTION("SO_ATTACH_FILTER", SOL_SOCKET, 26);
    OPTION("IP_TTL", IPPROTO_IP, 2);
    OPTION("IPV6_ADDRFORM", IPPROTO_IPV6, 1);
    TRY("socketpair of the machine", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    TRY("socketpair of another family", socketpair(AF_INET, SOCK_STREAM, 0, pair));
    TRY("limits of another process", syscall(SYS_prlimit64, parent, RLIMIT_CPU, &limit, NULL));
    TRY("own limits", syscall(SYS_prlimit64, 0, RLIMIT_CPU, NULL, &limit));
    TRY("a file", open("file", O_CREAT | O_WRONLY, 0600));
    TRY("a folder", mkdir("folder", 0700));
    TRY("a symbolic link", symlink("/etc", "link"));
    TRY("a pipe with a name", mknod("pipe", S_IFIFO | 0600, 0));
    TRY("a file outside", open("../planted", O_CREAT | O_WRONLY, 0600));
    TRY("moving a file out", rename("file", "../moved"));
    TRY("FS_IOC_SETFLAGS", ioctl(-1, 0x40086602, &one));
    TRY("FS_IOC32_SETFLAGS", ioctl(-1, 0x40046602, &one));
    TRY("FS_IOC_FSSETXATTR", ioctl(-1, 0x401c5820, &one));
    TRY("TIOCSTI", ioctl(-1, 0x5412, &one));
    TRY("TIOCLINUX", ioctl(-1, 0x541c, &one));
    TRY("a process that stays readable", stay_readable());
    TRY("a process group", setpgid(0, 0));
    TRY("a session", setsid());
    return 0;
}
