/* The texts of the errors. Numbers are stable; texts may change. */
#include "error.h"

const char *error_text(int code) {
  switch (code) {
    case 0: return "done";
    case E_VERB: return "unknown verb";
    case E_AMOUNT: return "bad amount";
    case E_LONG: return "line too long";
    case E_DATE: return "bad date";
    case E_SKU: return "bad article number";
    case E_QUANTITY: return "bad quantity";
    case E_FIELDS: return "wrong number of fields";
    case E_ORDER: return "date goes backwards";
    case E_STOCK: return "not enough stock";
    case E_LOTS: return "too many open lots";
    case E_ITEMS: return "too many articles";
    case E_SETTING: return "unknown setting";
    case E_VALUE: return "bad value of a setting";
    default: return "unknown error";
  }
}
