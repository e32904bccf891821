./tally check tests/cases/wrong.txt
echo "exit code $?"
