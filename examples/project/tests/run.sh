#!/bin/sh
# Runs the unit tests, then each tests/cases/NAME.cmd and compares with NAME.out.
rc=0
for t in conf date money parse stock; do
  tests/test_$t || rc=1
done
for cmd in tests/cases/*.cmd; do
  name=${cmd%.cmd}
  sh "$cmd" >"$name.got" 2>&1
  if cmp -s "$name.out" "$name.got"; then
    echo "ok   $name"
  else
    echo "FAIL $name: expected (-) and got (+)"
    diff -U0 "$name.out" "$name.got" | sed -e 1,2d
    rc=1
  fi
  rm -f "$name.got"
done
[ $rc -eq 0 ] && echo "all tests passed" || echo "some tests failed"
exit $rc
