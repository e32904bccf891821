#!/usr/bin/env bash
# Runs the C tests, the Lua specs and the examples, each file in a process of its own, so that
# a crash costs one file and names it. Ends with `N passed, N failed, N skipped` over all of
# them; exits 1 on a failure, a crash, a time-out, or when nothing ran.
# Usage: run.sh [WORD…]   only the files whose name holds one of the words. next: report.lua
set -u

BUILD=${BUILD:-build} LUA=${LUA:-lua5.4} JOBS=${JOBS:-2} SANITIZE=${SANITIZE:-} CC=${CC:-gcc}
LIMIT=${TEST_LIMIT:-600} # seconds a file may take: against hanging, far above what any needs
case $BUILD in /*) abs=$BUILD ;; *) abs=$PWD/$BUILD ;; esac
logs=$BUILD/test-logs
rm -rf "$logs"
mkdir -p "$logs"

export NEAP_BUILD=$abs NEAP_BIN=$abs/neap NEAP_DATA=$abs/share/neap/vocabularies
export NEAP_SHARED=${NEAP_SHARED:-$PWD/../shared}
export LUA_PATH="$PWD/lua/?.lua;$PWD/lua/?/init.lua;$PWD/?.lua;;" LUA_CPATH="$abs/lua/?.so;;"
export LUA_PATH_5_4=$LUA_PATH LUA_CPATH_5_4=$LUA_CPATH
export LC_ALL=C.UTF-8 TZ=UTC NO_COLOR=1 BUILD LUA CC
export XDG_DATA_HOME=$abs/test-home XDG_CONFIG_HOME=$abs/test-home # never the user's own store
unset NEAP_STORE
rm -rf "$abs/test-home"
mkdir -p "$abs/test-home"

# An interpreter that is not itself sanitized must load the runtime first; it also holds
# memory of its own at exit, so leaks are looked for in the C programs alone.
preload=
if [ -n "$SANITIZE" ]; then
  preload="$($CC -print-file-name=libasan.so) $($CC -print-file-name=libubsan.so)"
  export UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=detect_leaks=1:abort_on_error=0
fi
lua_host() {
  if [ -n "$preload" ]; then
    LD_PRELOAD=$preload ASAN_OPTIONS=detect_leaks=0 timeout -k 5 "$LIMIT" "$LUA" "$@"
  else
    timeout -k 5 "$LIMIT" "$LUA" "$@"
  fi
}

spec() {
  lua_host "$(command -v busted)" --ignore-lua --cpath="$abs/lua/?.so" "$1"
}

# An example passes when it exits 0 and prints exactly what stands beside it in FILE.out.
example() {
  if [[ $1 == *.py ]] && ! command -v python3 >/dev/null; then
    echo "skipped: $1: python3 is not here"
    echo "0 passed, 0 failed, 1 skipped"
    return 0
  fi
  local got=$logs/${1//\//_}.got rc=0 want=$1.out
  case $1 in
    *.c) timeout -k 5 "$LIMIT" "$BUILD/${1%.c}" ;;
    *.sh) PATH=$abs:$PATH timeout -k 5 "$LIMIT" bash "$1" ;;
    *.lua) lua_host "$1" ;;
    *.py) PATH=$abs:$PATH timeout -k 5 "$LIMIT" python3 "$1" ;;
  esac >"$got" </dev/null || rc=$?
  if [ $rc -ne 0 ]; then
    echo "exit code $rc"
    return $rc
  elif ! diff -u "$want" "$got"; then
    echo "0 passed, 1 failed, 0 skipped"
    return 1
  fi
  echo "1 passed, 0 failed, 0 skipped"
}

# Runs one file with its output in a log of its own; the last line of it is the verdict.
one() {
  local file=$1 rc=0 log=$logs/${1//\//_}.log
  case $file in
    tests/core/*) timeout -k 5 "$LIMIT" "$BUILD/${file%.c}" >"$log" 2>&1 </dev/null || rc=$? ;;
    tests/spec/*) spec "$file" >"$log" 2>&1 </dev/null || rc=$? ;;
    *) example "$file" >"$log" 2>&1 || rc=$? ;;
  esac
  verdict "$file" "$rc" <"$log" >"$log.sum"
}

# Reads a log; prints `passed failed skipped rc file`. No summary line, or a failing exit code
# with no counted failure, is one failure.
verdict() {
  awk -v file="$1" -v rc="$2" '
    /^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/ { p = $1; f = $3; s = $5 + 0; seen = 1 }
    END {
      if (!seen) { p = 0; s = 0; f = 1 }
      else if (rc != 0 && f == 0) f = 1
      else if (p + f + s == 0) f = 1
      print p + 0, f + 0, s + 0, rc, file
    }'
}

wanted() {
  local word
  [ $# -gt 1 ] || return 0
  for word in "${@:2}"; do case $1 in *"$word"*) return 0 ;; esac done
  return 1
}

files=()
shopt -s nullglob
for f in tests/core/test_*.c tests/spec/*_spec.lua examples/*.c examples/*.lua examples/*.sh examples/*.py; do
  wanted "$f" "$@" && files+=("$f")
done

running=0
for f in "${files[@]}"; do
  one "$f" &
  running=$((running + 1))
  if [ $running -ge "$JOBS" ]; then
    wait -n
    running=$((running - 1))
  fi
done
wait

passed=0 failed=0 skipped=0
for f in "${files[@]}"; do
  log=$logs/${f//\//_}.log
  read -r p n s rc _ <"$log.sum"
  passed=$((passed + p)) failed=$((failed + n)) skipped=$((skipped + s))
  printf '%-34s %5d passed %3d failed %3d skipped\n' "$f" "$p" "$n" "$s"
  if [ "$n" -gt 0 ]; then
    grep -avE '^[0-9]+ passed, [0-9]+ failed' "$log" | head -c 20000 | sed 's/^/    /'
    case $rc in
      0 | 1) ;;
      124 | 137) echo "    timed out after $LIMIT s" ;;
      *) echo "    ended with exit code $rc" ;;
    esac
  elif [ "$s" -gt 0 ]; then
    grep -a '^skipped:' "$log" | head -20 | sed 's/^/    /'
  fi
done

[ ${#files[@]} -gt 0 ] || echo "no test file matches; nothing ran"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ $((passed)) -gt 0 ]
