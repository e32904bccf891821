-- The long session: an agent finds out why the nightly job refuses to publish, mends eight
-- faults one by one, and squares the books with the auditor's figures. next: chinese.lua
-- What is said stands on one line, however long.
-- luacheck: no max line length
local calls = require("examples.scripts.calls")
local fixes = require("examples.scripts.fixes")
local ls, grep, read, run = calls.ls, calls.grep, calls.read, calls.run
local edit, write = calls.edit, calls.write

-- One part of the journal, as the program of any stage sees it.
local function check_summary()
  return run("./tally check data/q1.txt | tail -1")
end

return {
  name = "english",
  system = [[
You mend programs. You work in the folder of one project with the tools ls, grep, read, run,
edit and write. Read before you change, change one thing at a time, build and test after every
change, and say in a sentence or two what you found and what you do next. Never change anything
under data/ or docs/. When you are done, give an account that names files, numbers and causes.]],
  task = [[
The nightly job of our warehouse program has refused to publish since February. The log is in
logs/nightly.log, the program is in src/, and the auditor's letter is docs/audit-2024-q1.md.
Find out why, mend the program (not the journal), get all tests to pass, and show that the
books come to the auditor's figures. Write what you did to CHANGES.md.]],
  steps = {
    { "I look round first.", ls("."), ls("src"), ls("tests") },
    { "The README should say what the program promises.", read("README.md") },
    { "Now the letter of the auditor, and the settings.", read("docs/audit-2024-q1.md"), read("tally.conf") },
    { "How large are the pieces?", run("wc -l src/*.c src/*.h tests/*.c data/* logs/* docs/*") },
    { "The end of the log first: what does the job say when it gives up?", run("tail -25 logs/nightly.log") },
    { "Six mismatches with the shop, limit 0 because of FIN-2207. Which kinds of errors are there in the log, and how many of each?",
      run("grep -o 'E1[0-9][0-9] [a-z ]*' logs/nightly.log | sort | uniq -c"),
      grep("publish: refused", "logs/nightly.log") },
    { "Four kinds: E104, E107, E115, E117. The first night of the log lists all of them, so I read it whole.", read("logs/nightly.log", 1, 70) },
    { "The mismatches by article.", grep("MISMATCH", "logs/nightly.log") },
    { "SKU-10421 is not in the books at all, and SKU-1042 is short by three. I build the program and see it with my own eyes.", run("make") },
    { "It builds. What does it say about the first quarter?", run("./tally check data/q1.txt") },
    { "74 errors, 372 entries booked. Now the unit tests.", run("make test") },
    { "Five suites, each with failures: test_conf 4, test_date 4, test_money 2, test_parse 1, test_stock 6, and both whole runs. I go through them in the order in which a line passes through the program: date, parse, stock, then money, report and conf. First the sources, to know where things are.",
      read("src/main.c"), read("src/error.h") },
    { "book() reads with fgets into LINE_BYTES and hands the line to parse_line.", read("src/parse.c"), read("src/parse.h") },

    -- dates
    { "What does the journal look like that it reads? The first days.", read("data/q1.txt", 1, 130) },
    { "And the last two nights of the log whole: is there anything besides the check?", read("logs/nightly.log", 240, 313) },
    { "No: check, shop, publish, end. Dates first, then. E104 in the journal stands at lines 298 to 306.", run("sed -n 290,308p data/q1.txt") },
    { "Those are lines of March and of 29 February; the program counts five lines more than there are by then, one for each E107, so a long line is probably counted twice. I keep that for later. All E104 lines carry 2024-02-29, which is a leap day.", read("src/date.c"), read("tests/test_date.c") },
    { "date_days_in_month ignores the year: `(void)year`. February always has 28 days. I add the 29th for every fourth year.", edit(fixes.leap_half) },
    { "Build and test dates alone.", run("make tests/test_date && tests/test_date") },
    { "test_date still fails for 1900 and 2100: centuries are no leap years unless 400 divides them (2000 is one). The rule deserves a function of its own.", edit(fixes.leap_helper), edit(fixes.leap_whole) },
    { "Again.", run("make tests/test_date && tests/test_date") },
    { "23 checks, 0 failed. What has become of the E104 in the first quarter?", run("make && ./tally check data/q1.txt | grep -c E104"), check_summary() },
    { "None is left; before, nine lines of 29 February were not booked, and that was remark 5 of docs/audit-2024-q1.md. What else knows how long a month is?", grep("days|28|29|30|31", "src") },

    -- long lines
    { "Only src/date.c does. Next E107, wrong number of fields: lines 36, 61, 114, 133 and 160 by the program's count.", run("awk 'length($0) > 95 { print NR \": \" length($0) \" bytes\" }' data/q1.txt"), run("sed -n '35p;59p;111p;129p;155p' data/q1.txt") },
    { "As I thought: line 35 has more than 95 bytes, and the program reports 36. LINE_BYTES in src/parse.h is 96, fgets cuts the line and the rest comes as a line of its own. README.md promises 511 bytes and a newline, and E103 beyond. Who uses LINE_BYTES and E_LONG?", grep("LINE_BYTES|E_LONG", ".") },
    { "E_LONG is defined in src/error.h and never returned. I set LINE_BYTES to 512, give the buffer room for the NUL, and make a line that does not fit an E103 and skip its rest.", edit(fixes.line_bytes), edit(fixes.line_buffer) },
    { "Now the skipping, in src/main.c.", edit(fixes.line_skip), edit(fixes.line_error) },
    { "I read what I wrote.", read("src/main.c", 14, 56) },
    { "Build, and look at E107.", run("make && ./tally check data/q1.txt | grep -c E107"), run("make tests/test_parse && tests/test_parse | tail -3") },
    { "test_parse passes with 44 checks. Does a line that is really too long give E103, once, and is the next line read again? tests/cases/wrong.txt has one.", run("cat tests/cases/wrong.cmd && cut -c1-60 tests/cases/wrong.txt && cat tests/cases/wrong.out"), run("sh tests/cases/wrong.cmd") },
    { "E103 stands at line 12 as wrong.out wants it; what differs is line 11: OUT SKU-10421 is booked although no such article ever came in. That is the other mismatch.", check_summary(), run("./tally check data/q1.txt | head -20") },

    -- article numbers
    { "With the line numbers right, what is left is E117 and E115. But first the articles. Where are they compared?", grep("strncmp|strcmp", "src"), grep("SKU_DIGITS_END", "src") },
    { "Here it is: stock_find in src/stock.c compares SKU_DIGITS_END = 8 characters, so SKU-10421 is taken for SKU-1042. README.md says they are two articles, the fifth digit marks the small pack.", read("src/stock.c"), read("src/stock.h") },
    { "strcmp, and the constant goes.", edit(fixes.prefix), edit(fixes.prefix_constant) },
    { "Test the stock.", run("make tests/test_stock && tests/test_stock") },
    { "Checks 16, 17 and 18 pass now: two articles. 19, 20 and 23 fail still. How does SKU-10421 look in the books?", run("make && ./tally stock data/q1.txt | grep SKU-1042"), run("./tally lots data/q1.txt SKU-10421") },
    { "Remark 3 of the letter is done: the small pack is there. And the shop had SKU-1042 with three more than the books, the pieces that went out as small packs.", grep("SKU-10421", "data/q1.txt") },

    -- lots
    { "Now E117: test 19, \"60 lots that come and go are booked: got 117\". Who opens lots, and who closes them?", grep("lot_count", "src") },
    { "put() adds to lot_count, and nobody takes away: take() leaves lots with 0 pieces behind. MAX_LOTS is 24. SKU-1077 gets a lot every other day.", run("./tally lots data/q1.txt SKU-1077"), run("./tally check data/q1.txt | grep -c E117") },
    { "23 empty lots and one that is not. I could raise MAX_LOTS, but README.md says a used-up lot is closed, and E117 is for open ones. So take() has to close them.", edit(fixes.lots_helper) },
    { "And the call at the end of take().", edit(fixes.lots) },
    { "Read it again, then test.", read("src/stock.c", 46, 85), run("make tests/test_stock && tests/test_stock | grep -v ^ok") },
    { "Only check 23 is left in test_stock, and that is about reordering. The journal:", run("make && ./tally check data/q1.txt") },
    { "441 entries booked, 0 errors; it was 372 and 74 in the log of 31 March. Do lots in the middle stay right when they are empty? A lot in the middle cannot be used up before the oldest, take() goes in order, so closing at the front is enough. Let me see the lots of two articles that were counted.", run("./tally lots data/q1.txt SKU-1015; ./tally lots data/q1.txt SKU-1042; ./tally lots data/q1.txt SKU-1177") },
    { "Sum of SKU-1042: 32 pieces. The auditor's value of the stock is 7,888.53.", run("./tally stock data/q1.txt") },
    { "total 7888.53: the first of the five figures is right. The currency, though, is printed with blanks behind it.", run("./tally stock data/q1.txt | tail -1 | od -c | head -5") },

    -- settings
    { "`EUR` and four blanks: eight bytes of a longer value, cut by snprintf. tally.conf has `currency      = EUR           # what the books are kept in`. So the remark is part of the value.", read("src/conf.c"), run("tests/test_conf | grep -v ^ok; sed -n 20,45p tests/test_conf.c") },
    { "conf_line only knows remarks that fill a line. That explains `rounding` as well: \"half_even     # as the auditors asked in FIN-2207\" is not \"half_even\", and set_rounding takes anything else for half_up. Two faults that hide each other: the remark, and the silent fallback. First the remark.", edit(fixes.remark) },
    { "Then an unknown rounding is E121, as the table in README.md says.", edit(fixes.rounding) },
    { "test_conf again.", run("make tests/test_conf && tests/test_conf | grep -v ^ok") },
    { "One failure is left: `reorder_point = 12x` is taken. set_long does not look at where the number ends.", edit(fixes.whole_number) },
    { "Again.", run("make tests/test_conf && tests/test_conf") },
    { "22 checks, 0 failed. Is the setting in force now, as remark 1 of the letter asks? A half cent shows it: 19 % of 0.50 is 9.5 cents, 10 either way, but 19 % of 1.50 is 28.5, so 28 with half_even and 29 with half_up.",
      write("half.txt", "2024-01-02 IN SKU-1001 1 @ 1.50\n"), run("make && ./tally tax half.txt") },
    { "0.28: half_even is in force. With a setting that is none the program must refuse.", run("cp tally.conf tally.conf.keep; sed -i 's/half_even/half_odd/' tally.conf; ./tally tax half.txt; echo \"exit code $?\"; mv tally.conf.keep tally.conf; rm half.txt"), run("./tally tax data/q1.txt") },
    { "Net 24878.49 and tax 4726.91, as the letter has them; and tally.conf:4 is named with E121 when it is wrong. January is 13195.10 net and 2507.07 tax.", run("./tally losses data/q1.txt") },

    -- signs
    { "Remark 2: the loss of SKU-1001 is printed as 0.54, without its sign, and those of SKU-1022 and SKU-1135 too. The total is right, -104.20. It is the amounts between -1.00 and 0.00 that lose their sign.", read("src/money.c"), grep("money_format", ".") },
    { "money_format divides: -54 / 100 is 0, and 0 has no sign. I write the sign by itself.", edit(fixes.sign) },
    { "test_money, and the losses.", run("make tests/test_money && tests/test_money | tail -22"), run("make && ./tally losses data/q1.txt") },
    { "35 checks pass and the list shows -0.54, -0.24 and -0.18. money_tax and money_parse handle signs themselves; is there another place that divides by 100?", grep("/ 100|% 100", "src") },

    -- reordering
    { "Only dates and the month. Last, check 23 of test_stock: 12 pieces with reorder_point 12.", read("src/report.c"), run("./tally reorder data/q1.txt") },
    { "report_to_order compares with `<`; README.md says \"this many or fewer\". In the first quarter no article has exactly 12 pieces, so the letter's 5,292.62 comes out either way. Still a fault.", edit(fixes.reorder) },
    { "Everything.", run("make test") },
    { "All suites pass: test_conf 22, test_date 23, test_money 35, test_parse 44, test_stock 24, and both whole runs. Is the second quarter clean too?", run("./tally check data/q2.txt; ./tally stock data/q2.txt | tail -1; ./tally losses data/q2.txt; ./tally reorder data/q2.txt") },
    { "260 entries, 0 errors, and here an article with exactly 12 pieces does occur: SKU-1140 and SKU-1206 are ordered, which the old comparison would have left out. There is a document about the second quarter; do its figures agree?", read("docs/pandian.md") },
    { "It is the guide to stocktaking, in Chinese: end value 5,594.00, losses -100.00, next order 5,728.74. All three agree with what I just saw. Its net and tax figures are left.", run("./tally tax data/q2.txt") },
    { "15385.87 net and 2923.32 tax: both agree. Now the shop's mismatches of the last night of the log against today's books.", run("grep '2024-03-31.*MISMATCH' logs/nightly.log"), run("./tally stock data/q1.txt | grep -E 'SKU-(1042|10421|1077|1152|1222|1245) '") },
    { "SKU-1152: shop 18, books now 18. SKU-1222: 28 and 28. SKU-1245: 9 and 9. SKU-1042: the shop has 35 and the books 32; SKU-10421: 7 and 3; SKU-1077 must be looked at. Lines of these three after the last stocktaking:", run("grep -nE 'SKU-(1042|10421|1077) ' data/q1.txt | tail -14") },
    { "The stocktaking of 2024-03-29 put SKU-1042 at a counted number, so the books are what was counted. The shop's copy is older than that: it was not refreshed, because publishing was refused. That is a consequence, not a cause. When did the mismatches of SKU-1042 begin in the log?", grep("SKU-1042 books", "logs/nightly.log") },
    { "On every night the shop is three ahead of the books, also on 2024-03-22. The three pieces are those that left as small packs before the numbers were told apart; the count of 29 March settled it on our side. So publishing once, with the right books, overwrites the shop. I note it for the account. Which exit codes does the job look at?", grep("exit code", "logs/nightly.log"), grep("return|exit", "src/main.c") },
    { "check returns 1 when a line was not booked, and the job ends with exit code 1. With 0 errors it will be 0:", run("./tally check data/q1.txt; echo \"exit code $?\"; ./tally; echo \"exit code $?\"; ./tally lots data/q1.txt SKU-9999; echo \"exit code $?\"") },
    { "Good. Before I write it down I try the edges that the tests do not have. A line of exactly 511 bytes, one of 512, and a last line without a newline.",
      write("edge.sh", [[
pad() { awk -v n="$1" 'BEGIN { s = "2024-01-02 IN SKU-1042 1 @ 1.00  # "; while (length(s) < n) s = s "x"; print s }'; }
pad 511 > edge.txt
pad 512 >> edge.txt
pad 40 >> edge.txt
printf '2024-01-03 OUT SKU-1042 1' >> edge.txt
./tally check edge.txt
./tally stock edge.txt
]]), run("sh edge.sh") },
    { "Line 2 is E103, the others are booked: 2 in, 1 out, one piece left. With Chinese notes? Bytes count, not characters: line 56 of data/q2.txt was cut in the middle of a character before.", run("awk 'length($0) > 95 { print NR }' data/q2.txt; sed -n 56p data/q2.txt"), run("rm edge.sh edge.txt") },
    { "Booked. Next edge: 24 open lots are allowed, 25 are not, also when the oldest has just been closed.",
      write("lots.sh", [[
i=0
while [ $i -lt 24 ]; do echo "2024-01-02 IN SKU-1042 1 @ 1.00"; i=$((i + 1)); done > lots.txt
echo "2024-01-03 IN SKU-1042 1 @ 2.00" >> lots.txt
echo "2024-01-04 OUT SKU-1042 1" >> lots.txt
echo "2024-01-05 IN SKU-1042 1 @ 3.00" >> lots.txt
./tally check lots.txt
./tally lots lots.txt SKU-1042 | tail -2
]]), run("sh lots.sh; rm lots.sh lots.txt") },
    { "E117 at line 25, and line 27 is booked after one has left. That is what README.md promises. The case of counting down to zero:", write("zero.txt", "2024-01-02 IN SKU-1042 5 @ 1.00\n2024-01-03 COUNT SKU-1042 0\n2024-01-04 COUNT SKU-1042 2\n2024-01-05 OUT SKU-1042 2\n"), run("./tally check zero.txt; ./tally losses zero.txt; ./tally lots zero.txt SKU-1042; rm zero.txt") },
    { "Fine. I would like a whole run that would have caught the small packs together with the leap day, but tests/cases/small.cmd has both. Does it fail without each of the mends? I take them back one at a time, in copies.",
      write("mutants.sh", [[
try() { # NAME FILE SED
  rm -rf ../mutant && cp -R . ../mutant
  (cd ../mutant && sed -i "$3" "$2" && make -s >/dev/null 2>&1 && make -s test 2>/dev/null | grep -c '^FAIL' | sed "s/^/$1: failures /")
  rm -rf ../mutant
}
try leap src/date.c 's/is_leap(year)) return 29/0) return 29/'
try line src/parse.h 's/LINE_BYTES 512/LINE_BYTES 96/'
try sku src/stock.c 's/strcmp(s->items\[i\].sku, sku) == 0/strncmp(s->items[i].sku, sku, 8) == 0/'
try lots src/stock.c 's/^  close_lots(it);$//'
try remark src/conf.c 's/if (remark) /if (0) /'
try sign src/money.c 's/c < 0 ? "-" : ""/""/'
try reorder src/report.c 's/there <= c->reorder_point/there < c->reorder_point/'
]]), run("sh mutants.sh; rm mutants.sh") },
    { "Each mend taken back makes at least one test fail, so the tests hold all seven. Is the folder clean?", run("make clean; ls -A; ls -A src tests | grep -v '[.][ch]$'") },

    -- a second round: what a reviewer would ask
    { user = "Thank you. Before you write CHANGES.md: Ms Lindqvist says the reorder list of 31 March had six articles, and order value 5,292.62, but she may not order more than docs/limits.md allows. Does the list break any of its rules? Do not change the program for it, just tell me which lines." },
    { "I read the rules and the list of suppliers.", read("docs/limits.md"), read("docs/suppliers.csv") },
    { "And the list once more, with today's program.", run("make && ./tally reorder data/q1.txt") },
    { "By rule 2 an order may be worth at most 4,750.00 EUR: 5,292.62 is too much by 542.62. By rule 3 no line may exceed 1,900.00: SKU-1194 stands there with 2,751.45. By rule 4 life vests come in multiples of 6, and 51 is none; flares (SKU-1206) in multiples of 10, and 52 is none. Suppliers: is any of the six on hold?", run("./tally reorder data/q1.txt | awk '/^SKU/ { print $1 }' | while read -r s; do grep \"^$s,\" docs/suppliers.csv | cut -d, -f1-6; done") },
    { "None of the six is on hold; SUP-0710 is, but SKU-1066, SKU-1081 and SKU-1118 are not on the list. The packs: SKU-1015 by 10 (58 is none), SKU-10421 by 12 (57 is none), SKU-1077 by 2 (59 is none), SKU-1245 by 5 (51 is none). Packs are not a rule of docs/limits.md, only rule 4 is. What would the list come to with 30 life vests instead of 51?", run("awk 'BEGIN { v = 5292.62 - 2751.45 + 30 * 53.95; printf \"%.2f\\n\", v; printf \"%.2f\\n\", 30 * 53.95; printf \"%.2f\\n\", 36 * 53.95 }'") },
    { "30 vests are 1,618.50, below 1,900.00, and the order would be 4,159.67, below 4,750.00; 36 vests would be 1,942.20 and break rule 3. So: rules 2, 3 and 4 are broken, by SKU-1194 (51 pieces, 2,751.45 EUR), by SKU-1206 (52 pieces) and by the total. I leave the program as it is.\n\nShall I go on with CHANGES.md?" },
    { user = "Yes. Also tell me whether the first quarter's figures change if somebody sets reorder_point to 13, and what the tax would have been with half_up. I want both numbers in CHANGES.md." },
    { "Both are settings; I try them in a copy so that tally.conf stays as it is.", run("rm -rf ../try && mkdir ../try && cp tally tally.conf ../try && cp -R data ../try/data && cd ../try && sed -i 's/reorder_point = 12/reorder_point = 13/' tally.conf && ./tally reorder data/q1.txt") },
    { "With 13, three articles more (SKU-1081 has 13 pieces, SKU-1121 13, SKU-1163 13). Stock, losses and tax do not depend on it. Now half_up.", run("cd ../try && sed -i 's/half_even/half_up/' tally.conf && ./tally tax data/q1.txt && ./tally tax data/q2.txt && rm -rf ../try") },
    { "The tax of the first quarter is 4726.91 with half_up as well: none of 13195.10, 5573.05 and 6110.34 makes a half cent at 190 permille. The second quarter is 2923.32 either way. The cent of the auditor's remark 1 was in the fourth quarter of 2023 (4,402.18 instead of 4,402.17), whose journal we do not have.", ls("data") },
    { "Now CHANGES.md. I look at the sources once more so that each line I name is right.", grep("is_leap|is_long|close_lots|strcmp\\(s->items|there <=|char \\*remark|E_VALUE;|const char \\*sign", "src") },
    { "And the sizes of what was not booked before: nine lines of 29 February, five notes, the lots of SKU-1077.", run("grep -c 2024-02-29 data/q1.txt; awk 'length($0) > 95' data/q1.txt | wc -l; grep -c 'SKU-1077 ' data/q1.txt"), grep("check: data/q1.txt: ", "logs/nightly.log") },
    { "I write it.", write("CHANGES.md", [[
# Changes, for ticket FIN-2207

The nightly job refused to publish because 74 lines of data/q1.txt were not booked (372 were).
Now 441 entries are booked with 0 errors, and the exit code is 0.

| fault | where | what it did |
|---|---|---|
| February had 28 days in every year | src/date.c, is_leap | E104: the stocktaking of 2024-02-29 was not booked |
| LINE_BYTES was 96 | src/parse.h, src/main.c, is_long | E107: five long notes were read as lines; all line numbers behind them were wrong |
| eight characters of an article number compared | src/stock.c, stock_find | SKU-10421 was booked as SKU-1042 |
| lots used up stayed open | src/stock.c, close_lots | E117 and E115 for SKU-1077 from the 25th lot on |
| a remark was part of the value | src/conf.c, conf_line | half_up although tally.conf says half_even; blanks behind EUR |
| an unknown rounding was half_up, 12x was 12 | src/conf.c | now E121 |
| amounts between -1.00 and 0.00 lost their sign | src/money.c, money_format | SKU-1001 had a positive loss of 0.54 |
| "fewer" instead of "this many or fewer" | src/report.c, report_to_order | SKU-1140 and SKU-1206 were missing in the second quarter |

Figures of the first quarter, as in docs/audit-2024-q1.md: stock 7,888.53, losses -104.20,
net 24,878.49, tax 4,726.91, next order 5,292.62. With half_up the tax would be the same. With
reorder_point 13 three articles more would be ordered: SKU-1081, SKU-1121 and SKU-1163.

The shop's copy is older than the stocktaking of 2024-03-29 (SKU-1042: 35 there, 32 here); it
is overwritten when the job publishes again.
]]) },
    { "Is what I wrote true? The order of reorder_point 13 I have seen; the line numbers I left out, they move. The table says 25th lot: MAX_LOTS is 24, so the 25th is the first to be refused. One last run of everything, from clean.", run("make clean && make && make test | tail -5") },
    { "And the journal and the documents are untouched?", run("cksum data/q1.txt data/q2.txt docs/audit-2024-q1.md docs/limits.md docs/suppliers.csv docs/pandian.md"), run("wc -c data/* docs/*; ls -A") },
    { "I would also like to know that the program takes hostile lines without harm: no field, eight fields, a lone #, blanks, a NUL byte, a very large number.",
      write("odd.sh", [[
{
  echo '#'
  echo '   '
  echo 'IN'
  echo '2024-01-02 IN SKU-1042 1 @ 1.00 2 3 4 5 6'
  echo '2024-01-02 IN SKU-1042 99999999999999999999 @ 1.00'
  echo '2024-01-02 IN SKU-1042 1 @ 99999999999999999999'
  printf '2024-01-02 IN SKU-1042 1 @ 1.00\0 # nul\n'
  echo '2024-01-02 IN SKU-1042 1000000 @ 1.00'
} > odd.txt
./tally check odd.txt
./tally stock odd.txt | tail -1
]]), run("sh odd.sh; rm odd.sh odd.txt") },
    { "E107, E106 and E102 are right, and split() holds its limit of 7 fields. But line 7, the one with the NUL byte, is called too long (E103) and line 8 is not booked at all. That is my own fault: is_long looks for the newline with strchr, which stops at the NUL, and so it skips the next line.", read("src/main.c", 16, 24) },
    { "A line is too long only when it fills the buffer. LINE_BYTES is 512 and the buffer 513, so that is strlen(line) == 512 without a newline at its end.", edit(fixes.line_nul) },
    { "The hostile lines again, and the long ones of before (511 bytes and its newline is the most).",
      write("odd.sh", [=[
{
  printf '2024-01-02 IN SKU-1042 1 @ 1.00\0 # nul\n'
  echo '2024-01-02 IN SKU-1042 1000000 @ 1.00'
  awk 'BEGIN { s = "2024-01-03 OUT SKU-1042 1  # "; while (length(s) < 511) s = s "x"; print s; print s "x"; print s "xx" }'
  printf '2024-01-04 OUT SKU-1042 1'
} > odd.txt
./tally check odd.txt
./tally stock odd.txt | tail -1
]=]), run("make && sh odd.sh; rm odd.sh odd.txt") },
    { "Lines 4 and 5 are E103, lines 1, 2, 3 and 6 are booked. test_parse cannot see this, it has no files; the case tests/cases/wrong.txt can, but a NUL byte in a text file is a nuisance, so I leave it at that. All tests once more.", run("make test | grep -v ^ok") },
    { "How does it do with 128 articles and one more?",
      write("many.sh", [[
i=1000
while [ $i -lt 1129 ]; do echo "2024-01-02 IN SKU-$i 1 @ 1.00"; i=$((i + 1)); done > many.txt
./tally check many.txt
./tally stock many.txt | tail -2
]]), run("sh many.sh; rm many.sh many.txt") },
    { "E118 at line 129, as src/error.h says: more articles than MAX_ITEMS. 128 are booked. The warehouse has 28, so there is room.", run("cut -d' ' -f3 data/q1.txt data/q2.txt | grep '^SKU' | sort -u | wc -l") },
    { "28. One more thing that the log showed: the warning mail bounced.", grep("mail:", "logs/nightly.log") },
    { "The mailbox of extension 417 (Ms Lindqvist) is full, so the warnings went to 402, Mr Ahlgren; that is why nobody at the warehouse noticed for weeks. I add it to CHANGES.md, it is not the program's fault.", edit({ path = "CHANGES.md", old = "is overwritten when the job publishes again.\n", new = "is overwritten when the job publishes again. On 2024-03-27 the warning mail bounced (550 5.1.1,\nextension 417 is full) and went to extension 402.\n" }) },
    { "The whole file once more.", read("CHANGES.md") },
    { user = "One question from Dr Wernicke: which purchases were missing in the purchases figure that the old program printed, and by how much was it too low? She wants articles and amounts." },
    { "I need the old program for that. I take the mends of dates, lines, articles and lots back in a copy and compare the purchases.",
      write("old.sh", [[
rm -rf ../old && cp -R . ../old && cd ../old
sed -i 's/is_leap(year)) return 29/0) return 29/' src/date.c
sed -i 's/LINE_BYTES 512/LINE_BYTES 96/' src/parse.h
sed -i 's/char line\[LINE_BYTES + 1\]/char line[LINE_BYTES]/; s/is_long(line, f) ? E_LONG : //' src/main.c
sed -i 's/strcmp(s->items\[i\].sku, sku) == 0/strncmp(s->items[i].sku, sku, 8) == 0/; s/^  close_lots(it);$//' src/stock.c
make -s >/dev/null 2>&1
./tally check data/q1.txt | tail -1
./tally tax data/q1.txt | grep -v ': E1'
]]), run("sh old.sh") },
    { "372 entries and 74 errors: that is the old program to the line. Its net figure is lower than 24,878.49. Which IN lines did it refuse?", run("cd ../old && ./tally check data/q1.txt | grep -E 'E117|E104' | cut -d: -f2 | while read -r n; do sed -n \"$((n - 5))p\" data/q1.txt; done | grep ' IN ' | sed 's/#.*//'") },
    { "All deliveries of SKU-1077: the E117 ones, and one of 29 February, with E104. Their sum:", run("cd ../old && ./tally check data/q1.txt | grep -E 'E117|E104' | cut -d: -f2 | while read -r n; do sed -n \"$((n - 5))p\" data/q1.txt; done | grep ' IN ' | awk '{ n++; p += $4; v += $4 * $6 } END { printf \"%d deliveries, %d pieces, %.2f EUR\\n\", n, p, v }'"), run("rm -rf ../old; rm old.sh; ls -A") },
    { "The difference of the net figures has to be that sum; today's net is 24878.49.", run("./tally tax data/q1.txt | tail -2") },
    { "Answer for Dr Wernicke: only SKU-1077 (zinc anode, supplier SUP-0602, Hafenbedarf Kiel) was missing. From its 25th lot on every delivery was refused with E117, and that of 2024-02-29 with E104. The amounts are in the list above; they add up to what the old net figure is short of 24,878.49 EUR. No other article's purchases were affected: the five E107 were the ends of long OUT lines, which had been booked in their first half." },
    { user = "Good. Last: what do I tell the people in the warehouse to do tomorrow morning, in five lines at most?" },
    { "Five lines, then:\n\n1. The nightly job publishes again tonight; check that logs/nightly.log ends with exit code 0 (it was 1, with 74 errors, on 2024-03-31).\n2. SKU-10421 (small pack) is in the books again, 3 pieces; do not book it as SKU-1042 any more.\n3. The shop's number of SKU-1042 falls from 35 to 32: that is the stocktaking of 29 March, not a loss.\n4. The order list is too dear (5,292.62, limit 4,750.00) and SKU-1194 breaks the line limit of 1,900.00: order 30 life vests, not 51.\n5. Ms Lindqvist empties the mailbox of extension 417, so that warnings arrive (550 5.1.1 on 2024-03-27)." },
  },
}
