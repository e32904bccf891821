/* Booking: first in, first out. */
#include "stock.h"

#include "check.h"
#include "conf.h"
#include "error.h"
#include "report.h"

static struct stock s;

static int book(const char *text) {
  char line[512];
  struct entry e;
  snprintf(line, sizeof line, "%s", text);
  int rc = parse_line(line, &e);
  return rc ? rc : stock_apply(&s, &e);
}

static long pieces(const char *sku) {
  struct item *it = stock_find(&s, sku);
  return it ? item_quantity(it) : -1;
}

static void first_in_first_out(void) {
  stock_init(&s);
  check_long("a delivery is booked", book("2024-01-02 IN SKU-1001 10 @ 2.00"), 0);
  check_long("a second one", book("2024-01-03 IN SKU-1001 10 @ 3.00"), 0);
  check_long("12 go out", book("2024-01-04 OUT SKU-1001 12"), 0);
  check_long("8 are left", pieces("SKU-1001"), 8);
  check_long("they are worth 24.00", item_value(stock_find(&s, "SKU-1001")), 2400);
  check_long("9 cannot go out", book("2024-01-05 OUT SKU-1001 9"), E_STOCK);
  check_long("8 are left still", pieces("SKU-1001"), 8);
  check_long("a date may not go back", book("2024-01-03 OUT SKU-1001 1"), E_ORDER);
  check_long("an unknown article cannot go out", book("2024-01-05 OUT SKU-9999 1"), E_STOCK);
}

static void counting(void) {
  stock_init(&s);
  book("2024-01-02 IN SKU-1001 10 @ 2.00");
  check_long("counting 7 of 10 is booked", book("2024-01-03 COUNT SKU-1001 7"), 0);
  check_long("3 are lost", stock_find(&s, "SKU-1001")->lost, 3);
  check_long("6.00 are lost", stock_find(&s, "SKU-1001")->lost_value, 600);
  check_long("counting 9 of 7 is booked", book("2024-01-04 COUNT SKU-1001 9"), 0);
  check_long("9 are there", pieces("SKU-1001"), 9);
  check_long("at the last price", item_value(stock_find(&s, "SKU-1001")), 1800);
}

static void long_article_numbers(void) {
  stock_init(&s);
  book("2024-01-02 IN SKU-1042 10 @ 2.00");
  book("2024-01-02 IN SKU-10421 5 @ 9.00");
  check_long("SKU-1042 has 10", pieces("SKU-1042"), 10);
  check_long("SKU-10421 has 5", pieces("SKU-10421"), 5);
  check_long("there are two articles", s.count, 2);
}

static void many_lots(void) {
  char line[64];
  int rc = 0;
  stock_init(&s);
  for (int i = 0; i < 60 && !rc; i++) {
    snprintf(line, sizeof line, "2024-01-02 IN SKU-1001 4 @ %d.00", i + 1);
    rc = book(line);
    if (!rc) rc = book("2024-01-02 OUT SKU-1001 4");
  }
  check_long("60 lots that come and go are booked", rc, 0);
  check_long("no lot stays open", stock_find(&s, "SKU-1001")->lot_count, 0);
  for (int i = 0; i < MAX_LOTS; i++) book("2024-01-03 IN SKU-1002 1 @ 1.00");
  check_long("one open lot too many", book("2024-01-03 IN SKU-1002 1 @ 1.00"), E_LOTS);
}

static void reordering(void) {
  struct conf c;
  stock_init(&s);
  conf_defaults(&c);
  c.reorder_point = 12;
  c.reorder_to = 60;
  book("2024-01-02 IN SKU-1001 13 @ 2.00");
  check_long("13 are enough", report_to_order(stock_find(&s, "SKU-1001"), &c), 0);
  book("2024-01-03 OUT SKU-1001 1");
  check_long("12 are to be filled up to 60", report_to_order(stock_find(&s, "SKU-1001"), &c), 48);
  book("2024-01-03 OUT SKU-1001 12");
  check_long("none are to be filled up to 60", report_to_order(stock_find(&s, "SKU-1001"), &c), 60);
}

int main(void) {
  first_in_first_out();
  counting();
  long_article_numbers();
  many_lots();
  reordering();
  return check_end("test_stock");
}
