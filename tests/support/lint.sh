#!/usr/bin/env bash
# Every check that needs no run: both compilers with warnings as errors, headers that stand
# alone, formatting, luacheck, cppcheck. All are run; exits 1 when one of them complains.
# Called by `make lint`, which passes the file lists. next: cppcheck.txt
set -u

BUILD=${BUILD:-build} rc=0
read -r -a files <<<"$C_FILES"

check() { # NAME COMMAND…: one line when it passes, its output when it does not
  local out
  if out=$("${@:2}" 2>&1); then
    echo "ok      $1"
  else
    echo "FAILED  $1"
    printf '%s\n' "$out" | head -c 20000 | sed 's/^/    /'
    rc=1
  fi
}

compile() { # COMPILER: everything, in a build folder of its own
  $MAKE all tests BUILD="$BUILD/lint-$1" CC="$1" WERROR=1 CFLAGS="-O1"
}

# A header must compile as the first thing a file includes; the public one also as C++.
headers() {
  local h bad=0
  for h in "${files[@]}"; do
    case $h in
      *.h) echo "#include \"${h#core/}\"" | gcc -std=c11 -fsyntax-only -Wall -Wextra -Werror \
        -Icore -Icore/include -I. -I"$BUILD/gen" -I"$BUILD/lint-gcc/gen" $CPP -x c - || bad=1 ;;
    esac
  done
  if command -v c++ >/dev/null; then
    echo '#include "neap.h"' | c++ -fsyntax-only -Wall -Wextra -Werror -Icore/include -x c++ - || bad=1
  fi
  return $bad
}

lua_files() {
  find lua policies tests examples docs -name '*.lua' 2>/dev/null | sort
}

shopt -s nullglob
check "gcc -Werror" compile gcc
check "clang -Werror" compile clang
check "headers stand alone" headers
check "clang-format" clang-format --dry-run -Werror "${files[@]}"
check "luacheck" luacheck --no-color --formatter plain $(lua_files)
if command -v cppcheck >/dev/null; then
  check "cppcheck" cppcheck -q --std=c11 --enable=warning,portability --error-exitcode=1 \
    --inline-suppr --suppressions-list=tests/support/cppcheck.txt -j 2 \
    -Icore -Icore/include -I"$BUILD/gen" --library=posix core
fi
exit $rc
