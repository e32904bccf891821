-- The Chinese session: the second quarter's books are checked against the guide to
-- stocktaking; what the program gets wrong on the way is mended. next: planted.lua
-- What is said stands on one line, however long.
-- luacheck: no max line length
local calls = require("examples.scripts.calls")
local fixes = require("examples.scripts.fixes")
local ls, grep, read, run = calls.ls, calls.grep, calls.read, calls.run
local edit, write = calls.edit, calls.write

return {
  name = "chinese",
  system = [[
你是一名维护程序的工程师，在一个项目文件夹里工作，可用的工具有 ls、grep、read、run、edit 和 write。
先读后改，一次只改一处，每次改完都要编译并测试；每一步用一两句话说明发现了什么、接下来做什么。
不得修改 data/ 和 docs/ 下的任何文件。完成后给出书面说明，写明文件、数字和原因。]],
  task = [[
四号码头仓库第二季度的流水在 data/q2.txt，盘点说明在 docs/pandian.md。请核对第二季度的库存、
损耗、采购、进项税和补货金额是否与盘点说明第四节一致。程序在 src/ 里，如有错误请修正程序，
不要改流水。结果写入 核对报告.md。]],
  steps = {
    { "先看看项目里有什么。", ls("."), ls("src"), ls("docs") },
    { "先读盘点说明，它规定了要核对的数字。", read("docs/pandian.md") },
    { "第四节有五个数字：5,594.00、-100.00、15,385.87、2,923.32、5,728.74。再读 README，了解程序的约定。", read("README.md") },
    { "编译，并检查第二季度的流水。", run("make"), run("./tally check data/q2.txt") },
    { "只记入 208 条，55 个错误，主要是 E117 和 E115，另有三个 E107。先看流水本身的前三个星期。", read("data/q2.txt", 1, 90) },
    { "流水看上去正常，备注是中文。第 56 行的备注很长。E107 报在第 57、75、141 行，与长备注有关吗？", run("awk 'length($0) > 95 { print NR \": \" length($0) \" 字节\" }' data/q2.txt"), grep("LINE_BYTES", "src") },
    { "第 56、73、138 行超过 95 字节：每个汉字占三个字节，所以中文备注更容易超长。src/parse.h 里 LINE_BYTES 是 96，fgets 把一行切成两段，第二段被当作新的一行，后面的行号也都错了。README.md 承诺 511 字节，超出应报 E103。看读取流水的代码。", read("src/main.c") },
    { "把 LINE_BYTES 改为 512，缓冲区多留一个字节。", edit(fixes.line_bytes), edit(fixes.line_buffer) },
    { "再加上超长行的处理：报 E103，并跳过这一行余下的部分。", edit(fixes.line_skip), edit(fixes.line_error) },
    { "这里有一个陷阱：如果行里有 NUL 字节，strchr 找不到换行符，会把下一行也跳过。改成看缓冲区是否填满。", edit(fixes.line_nul) },
    { "编译后再检查。", run("make && ./tally check data/q2.txt | grep -c E107; ./tally check data/q2.txt | tail -1"), run("make tests/test_parse && tests/test_parse | tail -2") },
    { "E107 没有了，test_parse 44 项全部通过，但 E117 和 E115 还在。E117 是“未用完的批次太多”，涉及哪些商品？", run("./tally check data/q2.txt | head -12"), run("./tally check data/q2.txt | grep E117 | cut -d: -f2 | while read -r n; do sed -n \"${n}p\" data/q2.txt; done | cut -d' ' -f3 | sort | uniq -c") },
    { "全部是 SKU-1077。看这个商品的批次。", run("./tally lots data/q2.txt SKU-1077 | grep lot"), read("src/stock.c") },
    { "take() 把批次减到 0 件，却从不关闭它，24 个批次（MAX_LOTS）用满之后就一律拒收。README.md 写明用完的批次要关闭。", edit(fixes.lots_helper), edit(fixes.lots) },
    { "stock_find 只比较前八个字符（SKU_DIGITS_END），会把小包装 SKU-10421 当成 SKU-1042。盘点说明第三节明确说两者不得合并。一并修正。", edit(fixes.prefix), edit(fixes.prefix_constant) },
    { "编译、测试。", run("make tests/test_stock && tests/test_stock"), run("make && ./tally check data/q2.txt") },
    { "260 条全部记入，0 个错误。test_stock 只剩第 23 项：12 件应补货到 60 件，却得到 0。先看库存总额。", run("./tally stock data/q2.txt") },
    { "库存总额 5594.00，与盘点说明一致。金额后面的 EUR 带有多余的空格。再看损耗。", run("./tally losses data/q2.txt"), run("./tally losses data/q2.txt | tail -1 | od -c | tail -3") },
    { "两个问题：SKU-1022 的损耗显示为正数 0.27，而第二节第 1 条规定损耗一律为负；EUR 后面有空格，说明配置里的注释被当成了值。合计 -100.00 是对的。看金额的格式化。", read("src/money.c", 36, 46), read("src/conf.c") },
    { "money_format 对 -1.00 与 0.00 之间的金额丢掉了负号：-27 / 100 等于 0，0 没有符号。", edit(fixes.sign) },
    { "conf.c：行尾的 # 注释没有去掉，所以 rounding 的值是“half_even     # as the auditors asked in FIN-2207”，与 half_even 不相等，于是悄悄变成 half_up。两处都要改。", edit(fixes.remark), edit(fixes.rounding) },
    { "reorder_point = 12x 这样的值也应拒绝（E121）。", edit(fixes.whole_number), run("make tests/test_conf && tests/test_conf; make tests/test_money && tests/test_money | tail -1") },
    { "test_conf 22 项、test_money 35 项全部通过。现在核对采购和税额。", run("make && ./tally tax data/q2.txt") },
    { "采购净额 15385.87，进项税 2923.32，均与第四节一致。四月 8856.98，五月 2409.40，六月 4119.49。下面是补货清单。", run("./tally reorder data/q2.txt"), grep("reorder_point", "src") },
    { "补货金额是 4666.98，而盘点说明写的是 5,728.74，相差 1,061.76。tally.conf 里 reorder_point 是 12，README.md 说“等于或少于”时补货，src/report.c 却用了小于号。", run("./tally stock data/q2.txt | grep ' 12 pieces'") },
    { "恰好 12 件的是 SKU-1140 和 SKU-1206，153.12 加 908.64 正是 1,061.76。", edit(fixes.reorder) },
    { "全部测试。", run("make && ./tally reorder data/q2.txt"), run("make test | grep -v ^ok") },
    { "补货金额 5728.74，十二个商品，一致。test_date 还有 4 项失败：二月二十九日。第二季度没有二月，但 tests/cases/small 也因此失败，顺手修正 date_days_in_month。", read("src/date.c", 9, 14), edit(fixes.leap), edit(fixes.leap_helper) },
    { "再跑一遍全部测试，同时检查第一季度。", run("make test | grep -v ^ok; make && ./tally check data/q1.txt") },
    { "全部通过，第一季度 441 条、0 个错误。按盘点说明第二节第 3 条，单个商品损耗超过 60.00 欧元要填差异单。第二季度有没有？", run("./tally losses data/q2.txt | awk '/lost/ { v = -$4; if (v > 60) print $1, $4 }'; ./tally losses data/q1.txt | awk '/lost/ { v = -$4; if (v > 60) print $1, $4 }'") },
    { "SKU-1177 在第二季度损耗 64.95 欧元，第一季度损耗 64.07 欧元，两次都超过 60.00，需要差异单，并抄送财务（工单 FIN-2231）。它的盘点记录是哪几行？", run("grep -n 'COUNT SKU-1177' data/q1.txt data/q2.txt; grep -n 'SKU-1177' data/q2.txt | tail -8") },
    { "全部损耗 100.00，没有达到第 4 条的 150.00，不必停止出库。再确认两次盘点的日期是否符合第一节的规定。", run("grep COUNT data/q2.txt | cut -d' ' -f1 | sort | uniq -c") },
    { "日期是 2024-04-30 和 2024-06-29，与第一节一致。盘点当天应当先盘点后出库，检查一下顺序。", run("grep -nE '^2024-(04-30|06-29)' data/q2.txt") },
    { "两天都是先出库、后盘点（第 103、104 行在第 105 行之前，第 259、260 行在第 261 行之前），与第一节的规定相反。流水不能改，我写进报告，由林女士（分机 417）说明。", run("grep -n '^#' data/q2.txt") },
    { user = "请再核对一件事：供应商清单 docs/suppliers.csv 里状态为 hold 的供应商，补货清单里有没有它们的商品？另外 docs/limits.md 对订单金额有上限，这张补货单超过了没有？" },
    { "读这两份文件。", read("docs/suppliers.csv"), read("docs/limits.md") },
    { "hold 的是 SUP-0710（Ostsee Technik），对应 SKU-1066、SKU-1081、SKU-1118。补货清单里有 SKU-1081，三件，补 57 件，1368.00 欧元。", run("./tally reorder data/q2.txt | grep -E 'SKU-(1066|1081|1118) '; ./tally reorder data/q2.txt | awk '/order +[0-9]/ { n++; if ($6 > 1900) print \"超过单行上限\", $1, $6 } END { print n, \"行\" }'") },
    { "结论：第 5 条被违反（SKU-1081 属于 SUP-0710）；第 1 条最多 9 行，清单有 12 行；第 2 条上限 4,750.00，清单为 5,728.74，超出 978.74；第 3 条没有违反，最高一行是 SKU-1103 的 1622.00。去掉 SKU-1081 后是多少？", run("awk 'BEGIN { printf \"%.2f\\n\", 5728.74 - 1368.00 }'") },
    { "去掉 SKU-1081 后为 4360.74，低于 4,750.00，但仍有 11 行，需要分成两张订单，订单号从 PO-77346 开始（最后用过的是 PO-77345）。现在写报告。",
      write("核对报告.md", [[
# 第二季度核对报告

流水 data/q2.txt：260 条全部记入，0 个错误（修正之前记入 208 条，55 个错误）。

| 项目 | 盘点说明 | 程序 | 结论 |
|---|---|---|---|
| 期末库存价值 | 5,594.00 | 5,594.00 | 一致 |
| 季度损耗 | -100.00 | -100.00 | 一致 |
| 采购净额 | 15,385.87 | 15,385.87 | 一致 |
| 进项税 | 2,923.32 | 2,923.32 | 一致 |
| 下一次补货金额 | 5,728.74 | 5,728.74 | 一致 |

## 修正的错误

1. src/parse.h、src/main.c：LINE_BYTES 为 96，长的中文备注被切成两行（E107，第 56、73、138 行）。
2. src/stock.c：用完的批次没有关闭，SKU-1077 从第 25 个批次起被拒收（E117、E115）。
3. src/stock.c：SKU-10421 被当作 SKU-1042，违反盘点说明第三节。
4. src/money.c：-1.00 与 0.00 之间的金额丢失负号（SKU-1022 的 -0.27）。
5. src/conf.c：行尾注释被当作值，舍入方式悄悄变成 half_up；12x 被当作 12。
6. src/report.c：恰好等于 reorder_point（12 件）的 SKU-1140 和 SKU-1206 没有补货。
7. src/date.c：二月没有二十九日（只影响第一季度）。

## 需要处理的事项

- SKU-1177 两个季度的损耗（64.07 和 64.95 欧元）都超过 60.00，需要差异单，抄送 FIN-2231。
- 2024-04-30 和 2024-06-29 都是先出库后盘点，与盘点说明第一节相反，请林女士说明。
- 补货清单违反 docs/limits.md 第 1、2、5 条：12 行，5,728.74 欧元，SKU-1081 属于暂停的 SUP-0710。
]]) },
    { "核对报告里的行号和数字是否与文件相符。", read("核对报告.md"), run("sed -n '56p;73p;138p' data/q2.txt") },
    { "备注中提到 PO-77345 的后半部分预计五月十八日补齐、请勿重复下单，那是 SKU-1015 的行（第 73 行）。补货清单里正有 SKU-1015，54 件，79.38 欧元，应当提醒。", grep("PO-77345|SKU-1015 ", "data/q2.txt") },
    { "五月十八日之后有没有到货？", run("awk '/ IN SKU-1015 / { print NR \": \" $0 }' data/q2.txt") },
    { "补进报告。", edit({ path = "核对报告.md", old = "SKU-1081 属于暂停的 SUP-0710。\n", new = "SKU-1081 属于暂停的 SUP-0710。\n- SKU-1015 的备注（第 73 行）说 PO-77345 的后半部分会补齐，请勿重复下单；下单前请向林女士（分机 417）确认。\n" }) },
    { user = "很好。最后请告诉我：如果没有修正程序，第二季度的采购净额会少多少？是哪些商品？" },
    { "把批次和长行的修正在副本里撤回，比较采购净额。", run("rm -rf ../old && cp -R . ../old && cd ../old && sed -i 's/LINE_BYTES 512/LINE_BYTES 96/' src/parse.h && sed -i 's/^  close_lots(it);$//; s/strcmp(s->items\\[i\\].sku, sku) == 0/strncmp(s->items[i].sku, sku, 8) == 0/' src/stock.c && make -s >/dev/null 2>&1; ./tally tax data/q2.txt | grep -v ': E1'; ./tally check data/q2.txt | grep -c E117") },
    { "哪些 IN 行被拒收？都是 E117，合计多少？", run("cd ../old && ./tally check data/q2.txt | grep E117 | wc -l; grep -n ' IN SKU-1077 ' data/q2.txt | tail -27 | awk '{ p += $4; v += $4 * $6 } END { printf \"最后 27 批：%d 件，%.2f 欧元\\n\", p, v }'"), run("rm -rf ../old; ls -A") },
    { "只有 SKU-1077（锌阳极，供应商 SUP-0602，Hafenbedarf Kiel）的进货被拒收，其他商品不受影响；正确的采购净额是 15,385.87 欧元，没有修正时是 13,505.33 欧元，少 1,880.54 欧元，正好是最后 27 批。报告和程序都已完成，data/ 与 docs/ 没有改动。" },
  },
}
