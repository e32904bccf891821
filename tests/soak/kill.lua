-- Kills at any moment, 200 rounds of four writers (NEAP_KILLS changes that): the program of
-- tests/core/test_kill.c, which says what is looked at. next: ../core/test_kill.c
local build = os.getenv("NEAP_BUILD") or "build"
local rounds = os.getenv("NEAP_KILLS") or "200"
local data = os.getenv("NEAP_DATA") or build .. "/share/neap/vocabularies"
local command = ("NEAP_KILLS=%d NEAP_DATA='%s' '%s/tests/core/test_kill'")
  :format(tonumber(rounds), data, build)
os.exit(os.execute(command) and 0 or 1)
