-- The edits that mend the project, by name: what stands there, and what is to stand there.
-- The scripted agents share them. next: english.lua
return {
  -- money.c: the sign of amounts between -1.00 and 0.00 was lost.
  sign = {
    path = "src/money.c",
    old = [[
  cents whole = c / 100;
  cents part = c % 100;
  if (part < 0) part = -part;
  snprintf(out, n, "%lld.%02lld", whole, part);
]],
    new = [[
  const char *sign = c < 0 ? "-" : "";
  if (c < 0) c = -c;
  snprintf(out, n, "%s%lld.%02lld", sign, c / 100, c % 100);
]],
  },

  -- date.c: February had 28 days in every year.
  leap = {
    path = "src/date.c",
    old = [[
  (void)year;
  if (month < 1 || month > 12) return 0;
  return days[month - 1];
]],
    new = [[
  if (month < 1 || month > 12) return 0;
  if (month == 2 && is_leap(year)) return 29;
  return days[month - 1];
]],
  },
  leap_helper = {
    path = "src/date.c",
    old = [[
int date_days_in_month(int year, int month) {
]],
    new = [[
/* Every fourth year, but of the centuries only every fourth. */
static int is_leap(int year) {
  return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

int date_days_in_month(int year, int month) {
]],
  },
  leap_half = { -- a first try that forgets the centuries
    path = "src/date.c",
    old = [[
  (void)year;
  if (month < 1 || month > 12) return 0;
  return days[month - 1];
]],
    new = [[
  if (month < 1 || month > 12) return 0;
  if (month == 2 && year % 4 == 0) return 29;
  return days[month - 1];
]],
  },
  leap_whole = {
    path = "src/date.c",
    old = [[
  if (month == 2 && year % 4 == 0) return 29;
]],
    new = [[
  if (month == 2 && is_leap(year)) return 29;
]],
  },

  -- parse.h, main.c: notes that made a line longer than 95 bytes broke it in two.
  line_bytes = {
    path = "src/parse.h",
    old = "#define LINE_BYTES 96  /* of a line, its newline included */\n",
    new = "#define LINE_BYTES 512 /* of a line, its newline included */\n",
  },
  line_buffer = {
    path = "src/main.c",
    old = "  char line[LINE_BYTES];\n",
    new = "  char line[LINE_BYTES + 1];\n",
  },
  line_skip = {
    path = "src/main.c",
    old = [[
/* Books a journal;]],
    new = [[
/* True when a line did not fit; then the rest of it is skipped. */
static int is_long(const char *line, FILE *f) {
  if (strchr(line, '\n') || feof(f)) return 0;
  int c = getc(f);
  if (c == EOF) return 0;
  while (c != '\n' && c != EOF) c = getc(f);
  return 1;
}

/* Books a journal;]],
  },
  line_nul = { -- a second thought: a NUL byte hid the newline
    path = "src/main.c",
    old = "  if (strchr(line, '\\n') || feof(f)) return 0;\n",
    new = "  size_t n = strlen(line);\n"
      .. "  if (n < LINE_BYTES || line[n - 1] == '\\n') return 0;\n",
  },
  line_error = {
    path = "src/main.c",
    old = "    int rc = parse_line(line, &e);\n",
    new = "    int rc = is_long(line, f) ? E_LONG : parse_line(line, &e);\n",
  },

  -- stock.c: SKU-1042 and SKU-10421 were taken for one article.
  prefix = {
    path = "src/stock.c",
    old = "    if (strncmp(s->items[i].sku, sku, SKU_DIGITS_END) == 0) return &s->items[i];\n",
    new = "    if (strcmp(s->items[i].sku, sku) == 0) return &s->items[i];\n",
  },
  prefix_constant = {
    path = "src/stock.c",
    old = "#define SKU_DIGITS_END 8 /* \"SKU-\" and four digits */\n\n",
    new = "",
  },

  -- stock.c: lots that were used up stayed open.
  lots = {
    path = "src/stock.c",
    old = [[
    cost += some * lot->price;
  }
  return cost;
]],
    new = [[
    cost += some * lot->price;
  }
  close_lots(it);
  return cost;
]],
  },
  lots_helper = {
    path = "src/stock.c",
    old = [[
/* Takes n pieces from the oldest lots; tells what they had cost. */
]],
    new = [[
/* Lots that have been used up are closed: those behind them move up. */
static void close_lots(struct item *it) {
  int used = 0;
  while (used < it->lot_count && it->lots[used].left == 0) used++;
  it->lot_count -= used;
  memmove(it->lots, it->lots + used, (size_t)it->lot_count * sizeof it->lots[0]);
}

/* Takes n pieces from the oldest lots; tells what they had cost. */
]],
  },

  -- report.c: "this many or fewer" was "fewer".
  reorder = {
    path = "src/report.c",
    old = "  if (there < c->reorder_point) return c->reorder_to - there;\n",
    new = "  if (there <= c->reorder_point) return c->reorder_to - there;\n",
  },

  -- conf.c: a remark became part of the value, and an unknown rounding was half_up.
  remark = {
    path = "src/conf.c",
    old = [[
  char *text = trim(line);
  if (*text == '\0' || *text == '#') return 0;
]],
    new = [[
  char *remark = strchr(line, '#');
  if (remark) *remark = '\0';
  char *text = trim(line);
  if (*text == '\0') return 0;
]],
  },
  rounding = {
    path = "src/conf.c",
    old = "  else *out = ROUND_HALF_UP;\n  return 0;\n",
    new = "  else if (strcmp(value, \"half_up\") == 0) *out = ROUND_HALF_UP;\n"
      .. "  else return E_VALUE;\n  return 0;\n",
  },
  whole_number = {
    path = "src/conf.c",
    old = "  if (end == value || v < 0 || v > max) return E_VALUE;\n",
    new = "  if (end == value || *end != '\\0' || v < 0 || v > max) return E_VALUE;\n",
  },
}
