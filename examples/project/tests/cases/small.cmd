./tally check tests/cases/small.txt
./tally stock tests/cases/small.txt
./tally losses tests/cases/small.txt
./tally reorder tests/cases/small.txt
./tally tax tests/cases/small.txt
