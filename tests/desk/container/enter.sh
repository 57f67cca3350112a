# enter.sh <root> <data> <workdir> <uid> <gid> <count> <variable>... <command>...
# The first process of new namespaces: mounts what a container runtime would mount, makes everything except the data
# read-only, and replaces itself with the command as another user.
set -eu
root=$1 data=$2 workdir=$3 uid=$4 gid=$5 count=$6
shift 6
variables=("${@:1:count}")
shift "$count"
mount --make-rprivate /
mount --bind "$root" "$root"
mount --bind "$data" "$root/data"
mount -t proc proc "$root/proc"
mount -t tmpfs -o size=64k,mode=755 tmpfs "$root/dev"
for device in null zero full random urandom; do
  : >"$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mount -t sysfs -o ro sysfs "$root/sys" 2>/dev/null || mount -t tmpfs -o mode=755 tmpfs "$root/sys"
mount -o remount,bind,ro "$root/dev"
mount -o remount,bind,ro "$root"
ip link set lo up
# Drops this machine's variables. The tools are resolved before the image's PATH applies.
exec env -i "${variables[@]}" "$(command -v setpriv)" --no-new-privs \
  "$(command -v unshare)" --root="$root" --wd="$workdir" --setgid "$gid" --setuid "$uid" -- "$@"
