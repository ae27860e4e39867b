#!/bin/sh
# Builds an empty root as a Lambda function sees it, and starts AWS's runtime client in it as an unprivileged user and under
# Lambda's system call filter. Runs as root of its own user namespace, with its own mounts and processes.
# Arguments: root, base libraries, node, runtime client, native client, filter, function code, MiB of /tmp, then name=folder
# for each layer.
set -eu
root=$1 base=$2 node=$3 client=$4 native=$5 filter=$6 code=$7 temporary=$8
shift 8

readonly_bind() {
  mount --bind "$1" "$2"
  mount -o remount,bind,ro "$2"
}

mount -t tmpfs -o size=16m,mode=755 root "$root"
cd "$root"
mkdir -p proc dev tmp opt etc lib64 usr var/task var/runtime var/lang/bin var/emulator
mount -t proc proc proc
mount -t tmpfs -o size="$temporary"m,mode=1777 temporary tmp
for device in null zero full random urandom; do
  : > "dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done
ln -s /proc/self/fd dev/fd
readonly_bind "$base/usr" usr
ln -s usr/lib lib
rmdir lib64
ln -s usr/lib64 lib64
echo 'sbx_user1051:x:993:990::/home/sbx_user1051:/sbin/nologin' > etc/passwd
echo '127.0.0.1 localhost' > etc/hosts
: > var/lang/bin/node
readonly_bind "$node" var/lang/bin/node
readonly_bind "$client" var/runtime
for file in "$native" "$filter"; do
  : > "var/emulator/${file##*/}"
  readonly_bind "$file" "var/emulator/${file##*/}"
done
readonly_bind "$code" var/task
for layer in "$@"; do
  mkdir "opt/${layer%%=*}"
  readonly_bind "${layer#*=}" "opt/${layer%%=*}"
done
# Bind-mounted, because the options of a new mount name a user that does not exist here.
mount -o remount,bind,ro "$root"

ulimit -n 1024
# Lambda's limit of processes and threads. The kernel does not apply it to root.
ulimit -p 1024 2>/dev/null || ulimit -u 1024
ulimit -c 0
# Not exec: this shell stays as the first process and collects orphans, as Lambda's own does.
unshare --user --map-user=993 --map-group=990 --root="$root" --wd=/var/task -- \
  /var/emulator/filter /var/lang/bin/node --import /var/emulator/native-client.mjs /var/runtime/index.mjs
