/* Settings. */
#include "conf.h"

#include "check.h"
#include "error.h"

static struct conf c;

static int line(const char *text) {
  char copy[256];
  snprintf(copy, sizeof copy, "%s", text);
  return conf_line(&c, copy);
}

int main(void) {
  conf_defaults(&c);
  check_text("the currency is EUR unless set", c.currency, "EUR");
  check_long("an empty line is fine", line(""), 0);
  check_long("a comment is fine", line("# comment"), 0);
  check_long("currency = SEK", line("currency = SEK"), 0);
  check_text("  is set", c.currency, "SEK");
  check_long("currency = EUR  # with a remark", line("currency = EUR  # with a remark"), 0);
  check_text("  the remark is no part of it", c.currency, "EUR");
  check_long("rounding = half_even", line("rounding = half_even"), 0);
  check_long("  is set", c.rounding, ROUND_HALF_EVEN);
  check_long("rounding = half_up", line("rounding = half_up"), 0);
  check_long("  is set", c.rounding, ROUND_HALF_UP);
  check_long("rounding = half_even # FIN-2207", line("rounding = half_even # FIN-2207"), 0);
  check_long("  the remark does not undo it", c.rounding, ROUND_HALF_EVEN);
  check_long("rounding = sideways is refused", line("rounding = sideways"), E_VALUE);
  check_long("reorder_point = 12", line("reorder_point = 12"), 0);
  check_long("  is set", c.reorder_point, 12);
  check_long("reorder_point = 12x is refused", line("reorder_point = 12x"), E_VALUE);
  check_long("reorder_point = -1 is refused", line("reorder_point = -1"), E_VALUE);
  check_long("reorderpoint = 12 is refused", line("reorderpoint = 12"), E_SETTING);
  check_long("tax_permille = 70", line("tax_permille = 70"), 0);
  check_long("  is set", c.tax_permille, 70);
  check_long("tax_permille = 1001 is refused", line("tax_permille = 1001"), E_VALUE);
  return check_end("test_conf");
}
