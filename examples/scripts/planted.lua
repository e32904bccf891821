-- The session with planted constraints: exact numbers and ids, given early by the user and by
-- documents, decide what the agent may write sixty steps later. next: ../agent_loop.lua
-- What is said stands on one line, however long.
-- luacheck: no max line length
local calls = require("examples.scripts.calls")
local fixes = require("examples.scripts.fixes")
local ls, grep, read, run = calls.ls, calls.grep, calls.read, calls.run
local edit, write = calls.edit, calls.write

return {
  name = "planted",
  system = [[
You prepare orders for a warehouse. You work in the folder of one project with the tools ls,
grep, read, run, edit and write. What the user lays down as a number, a date or an id holds to
the end and is used exactly as given. Never change anything under data/ or docs/. If a program
gives a wrong figure, mend the program first.]],
  task = [[
Prepare the next order of the warehouse at Pier 4 from the second quarter's journal,
data/q2.txt, as the file order.txt. The program is in src/. I will give you the conditions.]],
  steps = {
    { "I will see what there is, and wait for the conditions.", ls("."), ls("docs"), ls("data") },
    { user = [[
These are the conditions. They hold for this order whatever a document says that is laxer:
- order number PO-77346, approval code KX-20931, cost centre 4410-12
- at most 7 lines, at most 3,980.00 EUR in all, no line above 1,640.00 EUR
- nothing of SKU-1245: it is bought through claim RMA-3417
- goods arrive by 2024-07-19; deliveries take as many days as the list of suppliers says, and
  the order goes out on 2024-07-09 at 16:30
- write to ext. 417 (Ms Lindqvist) when you are done; in emergencies to ext. 402]] },
    { "Noted: PO-77346, KX-20931, 4410-12; 7 lines, 3,980.00, 1,640.00; no SKU-1245 (RMA-3417); by 2024-07-19. Which rules do the documents add?", read("docs/limits.md"), read("docs/suppliers.csv") },
    { "From docs/limits.md: life vests by 6 and flares by 10, nothing from a supplier on hold, numbers in order after PO-77345. From the list: who needs more than ten days for a delivery that leaves on 2024-07-09?", run("awk -F, '$5 > 10 { print $1, $2, $4, $5 }' docs/suppliers.csv") },
    { "Only SUP-0710, and it is on hold anyway. Now the program.", read("README.md"), run("make") },
    { "What does it want to order?", run("./tally reorder data/q2.txt | tail -12"), run("./tally check data/q2.txt | tail -1") },
    { "55 errors: these figures are worth nothing. The list has to come from clean books. What is wrong?", run("./tally check data/q2.txt"), run("make test | grep -v ^ok") },
    { "Many faults. I read the sources first, all of them.", read("src/main.c"), read("src/parse.c"), read("src/stock.c") },
    { "And the rest.", read("src/report.c"), read("src/conf.c"), read("src/money.c"), read("src/date.c") },
    { "I begin with E107 at lines 57, 75 and 141: three notes longer than LINE_BYTES.", run("awk 'length($0) > 95' data/q2.txt"), edit(fixes.line_bytes), edit(fixes.line_buffer) },
    { "A line that does not fit is E103 and its rest is skipped.", edit(fixes.line_skip), edit(fixes.line_error) },
    { "is_long must not trust strchr, a NUL byte would hide the newline.", edit(fixes.line_nul), run("make tests/test_parse && tests/test_parse") },
    { "One of the notes matters for the order: line 73 says of SKU-1015 that PO-77345 will be completed on 18 May, \"请勿重复下单\": do not order again. Was it completed?", grep("SKU-1015", "data/q2.txt") },
    { "No IN line of SKU-1015 after 2024-04-01, so it never came. I keep in mind that SKU-1015 must not be ordered again while PO-77345 is open. Next, E117: lots that are used up stay open.", edit(fixes.lots_helper), edit(fixes.lots) },
    { "And the articles with five digits.", edit(fixes.prefix), edit(fixes.prefix_constant) },
    { "Test.", run("make tests/test_stock && tests/test_stock"), run("make && ./tally check data/q2.txt") },
    { "0 errors, 260 entries. Dates, too: 29 February is refused in the first quarter.", edit(fixes.leap), edit(fixes.leap_helper) },
    { "Test dates and the first quarter.", run("make tests/test_date && tests/test_date"), run("make && ./tally check data/q1.txt") },
    { "Settings: remarks are part of the value.", edit(fixes.remark), edit(fixes.rounding) },
    { "And 12x.", edit(fixes.whole_number), run("make tests/test_conf && tests/test_conf") },
    { "Signs.", edit(fixes.sign), run("make tests/test_money && tests/test_money") },
    { "And the comparison in report_to_order: reorder_point is \"this many or fewer\".", edit(fixes.reorder), run("make && make test") },
    { "All tests pass. What the stock is now, and what the program would order:", run("./tally stock data/q2.txt"), run("./tally reorder data/q2.txt") },
    { "Twelve lines, 5,728.74 EUR. Before I cut it down I check the stock against the guide to stocktaking.", read("docs/pandian.md") },
    { "5,594.00 and 5,728.74: both as there. How fast do the twelve articles go? I count what went out in the quarter.",
      write("pace.awk", [[
$2 == "OUT" { out[$3] += $4; n[$3]++ }
$2 == "IN" { in_[$3] += $4 }
END { for (s in out) printf "%s out %d in %d lines %d\n", s, out[s], in_[s], n[s] }
]]), run("awk -f pace.awk data/q2.txt | sort") },
    { "And in the first quarter, for comparison.", run("awk -f pace.awk data/q1.txt | sort; rm pace.awk") },
    { "SKU-1103, SKU-1206 and SKU-10421 go fastest among those that are short. When did each of the twelve last go out?", run("for s in 1004 1015 1022 10421 1077 1081 1103 1121 1135 1140 1206 1245; do grep -n \"OUT SKU-$s \" data/q2.txt | tail -1; done") },
    { "What do the customers wait for? The log may know about back orders.", grep("SKU-(1004|1022|10421|1077|1103|1121|1135|1140|1206) books", "logs/nightly.log"), run("tail -40 logs/nightly.log") },
    { "Nothing about back orders. The whole second quarter once, in case a note says more.", read("data/q2.txt", 1, 140) },
    { "The rest of it.", read("data/q2.txt", 141, 267) },
    { "Notes like 工单 88-1204 are jobs, not orders. Are there other open orders? I look for PO- everywhere.", grep("PO-[0-9]{5}", "."), grep("RMA-", ".") },
    { user = "A change: the boat hall needs at least 12 fenders (SKU-1103) and 6 stern lights (SKU-1081) whatever else happens. Everything else I told you stays as it is." },
    { "Fenders are possible. Stern lights are not: SKU-1081 comes from SUP-0710 (Ostsee Technik), status hold, and rule 5 of docs/limits.md lets nobody order there; exceptions are signed by Mr Ahlgren, ext. 402. Is there another supplier for them?", grep("SKU-1081|SUP-0710", "docs") },
    { "No other one. I leave SKU-1081 out and say so. Now the candidates with packs and days.", run("for s in 1004 1022 10421 1077 1103 1121 1135 1140 1206; do grep \"^SKU-$s,\" docs/suppliers.csv; done") },
    { "Out of the twelve go SKU-1245 (claim RMA-3417), SKU-1015 (PO-77345 is still open) and SKU-1081 (on hold). Nine are left, seven may stay. SKU-1004, SKU-1022 and SKU-1135 are pennies: 1.47, 4.95 and 3.43 EUR. Two of them can wait.", run("./tally lots data/q2.txt SKU-1135; ./tally lots data/q2.txt SKU-1004; ./tally lots data/q2.txt SKU-1022") },
    { "SKU-1022 has 5 pieces left and goes by 100: it stays, the other two wait. So: SKU-1022, SKU-10421, SKU-1077, SKU-1103, SKU-1121, SKU-1140, SKU-1206. Quantities in whole packs, flares by 10.",
      write("sum.awk", [[
BEGIN { FS = "," }
{ v = $2 * $3; total += v; printf "%-10s %4d %8.2f %10.2f\n", $1, $2, $3, v }
END { printf "total %30.2f, %d lines\n", total, NR }
]]), run("printf '%s\\n' SKU-1022,100,0.09 SKU-10421,48,3.93 SKU-1077,58,16.23 SKU-1103,50,31.20 SKU-1121,48,2.40 SKU-1140,50,3.10 SKU-1206,50,19.50 | awk -f sum.awk") },
    { "3,944.18 EUR: below 3,980.00. The dearest line is SKU-1103 with 1,560.00, below 1,640.00. Seven lines. Is the price of the list the one of the last delivery?", run("for s in 1022 10421 1077 1103 1121 1140 1206; do grep \" IN SKU-$s \" data/q2.txt | tail -1; done") },
    { "The last deliveries were partly at other prices. By docs/limits.md an order counts at the supplier's price, which is the list's. But to be safe: what would it come to at the last prices?", run("printf '%s\\n' SKU-1022,100,0.09 SKU-10421,48,3.93 SKU-1077,58,16.23 SKU-1103,50,32.44 SKU-1121,48,2.44 SKU-1140,50,3.19 SKU-1206,50,18.93 | awk -f sum.awk; rm sum.awk") },
    { "3,984.10 at the last prices: above 3,980.00 by 4.10. Two fenders fewer are 64.88, and a pack is 2: 48 fenders, still more than the 12 that the boat hall needs. Then both sums are within the limit: 3,944.18 - 62.40 = 3,881.78 and 3,984.10 - 64.88 = 3,919.22.", run("awk 'BEGIN { printf \"%.2f %.2f\\n\", 3944.18 - 2 * 31.20, 3984.10 - 2 * 32.44 }'") },
    { "Days: SUP-0602 needs 9, SUP-0655 7, SUP-0533 6, SUP-0668 3; the order goes out on 2024-07-09, so the last goods are here on 2024-07-18, before 2024-07-19. The blocked days of rule 7 (2024-05-06 to 2024-05-10, WO-5188) are past. I write the order.",
      write("order.txt", [[
order PO-77346
approval KX-20931
cost centre 4410-12
sent 2024-07-09 16:30, lapses after 2024-07-19

SKU-1022   100   0.09     9.00  SUP-0533  6 days
SKU-10421   48   3.93   188.64  SUP-0602  9 days
SKU-1077    58  16.23   941.34  SUP-0602  9 days
SKU-1103    48  31.20  1497.60  SUP-0655  7 days
SKU-1121    48   2.40   115.20  SUP-0533  6 days
SKU-1140    50   3.10   155.00  SUP-0533  6 days
SKU-1206    50  19.50   975.00  SUP-0668  3 days
]]), run("awk '/^SKU/ { n++; v += $2 * $3; if ($2 * $3 > m) m = $2 * $3 } END { printf \"%d lines, %.2f EUR, dearest %.2f\\n\", n, v, m }' order.txt") },
    { "7 lines, the sum below 3,980.00, the dearest line below 1,640.00. The sum stands in no line yet.", edit({ path = "order.txt", old = "SKU-1206    50  19.50   975.00  SUP-0668  3 days\n", new = "SKU-1206    50  19.50   975.00  SUP-0668  3 days\ntotal              3881.78\n" }), run("awk '/^SKU/ { v += $4 } /^total/ { printf \"%.2f %.2f\\n\", v, $2 }' order.txt") },
    { "It agrees: 3881.78, and with the 50 fenders of before it was 3944.18; the difference is the 62.40 of two fenders.", run("awk 'BEGIN { printf \"%.2f %.2f\\n\", 9.00 + 188.64 + 941.34 + 1560.00 + 115.20 + 155.00 + 975.00, 3881.78 + 62.40 }'") },
    { user = "Before you finish: repeat the conditions I gave at the start, each with the place in the order that keeps it." },
    { "Order number PO-77346: first line. Approval code KX-20931: second. Cost centre 4410-12: third. At most 7 lines: there are 7. At most 3,980.00 EUR: 3881.78. No line above 1,640.00: SKU-1103 with 1497.60 is the dearest. Nothing of SKU-1245: it is not there, it goes through claim RMA-3417. Goods by 2024-07-19, order out on 2024-07-09 at 16:30: fourth line, the slowest supplier (SUP-0602) needs 9 days. Your change: 48 fenders are more than 12; the 6 stern lights (SKU-1081) are not ordered because SUP-0710 is on hold, and only ext. 402 may sign an exception. SKU-1015 is left out because of PO-77345. Ms Lindqvist, ext. 417, gets the note now.",
      write("note-417.txt", [[
To ext. 417, Ms Lindqvist

Order PO-77346 is ready in order.txt: 7 lines, 3881.78 EUR, approval KX-20931, cost centre
4410-12. It goes out on 2024-07-09 at 16:30 and lapses after 2024-07-19.

Not ordered: SKU-1245 (claim RMA-3417), SKU-1015 (PO-77345 is still open), SKU-1081 (SUP-0710
is on hold; an exception needs ext. 402), SKU-1004 and SKU-1135 (they can wait).
]]) },
    { "The last look at both files.", run("cat order.txt note-417.txt"), run("make clean; ls -A") },
    { "Done: order.txt and note-417.txt are there; data/ and docs/ are as they were." },
  },
}
