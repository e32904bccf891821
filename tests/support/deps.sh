#!/bin/sh
# Installs what is missing of a group (run, test, lint) from Debian's packages. Says nothing
# when all is there. Needs only sh, and apt when something is missing. next: run.sh
set -eu

LUA=${LUA:-lua5.4}
PKG_CONFIG=${PKG_CONFIG:-pkg-config}

has() { command -v "$1" >/dev/null 2>&1; }
lib() { has "$PKG_CONFIG" && "$PKG_CONFIG" --exists "$1"; }
mod() { has "$LUA" && "$LUA" -e "require '$1'" >/dev/null 2>&1; }
libc_headers() { has "${CC:-gcc}" && echo '#include <stdio.h>' | "${CC:-gcc}" -E - >/dev/null 2>&1; }

missing=
want() { # PACKAGE probe…: adds the package when the probe says no
  package=$1
  shift
  "$@" || missing="$missing $package"
}

group_run() {
  want gcc has "${CC:-gcc}"
  want libc6-dev libc_headers
  want make has make
  want pkg-config has "$PKG_CONFIG"
  want lua5.4 has "$LUA"
  want liblua5.4-dev lib lua5.4
  want lua-lpeg mod lpeg
  want libsqlite3-dev lib sqlite3
  want nettle-dev lib nettle
  want libutf8proc-dev lib libutf8proc
  want libpcre2-dev lib libpcre2-8
}

# What neap does without where it is not there.
group_more() {
  want libzstd-dev lib libzstd
}

group_test() {
  want lua-busted has busted
  want lua-busted mod busted.core
  want lua-filesystem mod lfs
}

group_lint() {
  want clang has clang
  want clang-format has clang-format
  want lua-check has luacheck
  want cppcheck has cppcheck
}

for group in "$@"; do
  case $group in
    run | more | test | lint) "group_$group" ;;
    *)
      echo "neap: deps.sh: no group '$group'; the groups are run, more, test, lint" >&2
      exit 2
      ;;
  esac
done
[ -n "$missing" ] || exit 0

missing=$(printf '%s\n' $missing | sort -u | tr '\n' ' ')
if ! has apt-get; then
  echo "neap: missing: $missing(Debian's names); install them, then run make again" >&2
  exit 1
fi
sudo=
if [ "$(id -u)" != 0 ]; then
  has sudo || {
    echo "neap: missing: $missing; as root: apt-get install $missing" >&2
    exit 1
  }
  sudo=sudo
fi

echo "neap: installing $missing" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() { $sudo env DEBIAN_FRONTEND=noninteractive apt-get -y -q "$@" >"$log" 2>&1; }
install() { apt install --no-install-recommends $missing; }
# The lists of a fresh machine are empty or old: a failed install is tried again after an update.
if ! ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1; then apt update || true; fi
install || { apt update && install; } || {
  cat "$log" >&2
  echo "neap: apt-get could not install: $missing" >&2
  exit 1
}
