/*
** exp, log and pow in plain double arithmetic, within two units in the last place and the
** same on every machine: a C library's own differ in the last digit. next: call.c
*/
#include <float.h>

#include "policy/host.h"

#define LN2_HI                                                                           \
  6.93147180369123816490e-01 /* its last 32 bits are 0: k * LN2_HI is exact */
#define LN2_LO 1.90821492927058770002e-10

typedef struct pair {
  double hi, lo; /* the number is hi + lo, |lo| below half a unit of hi */
} pair;

static uint64_t bits_of(double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

static double of_bits(uint64_t u) {
  double x;
  memcpy(&x, &u, sizeof x);
  return x;
}

static bool is_nan(double x) {
  return x != x;
}

static double infinity(void) {
  return of_bits(UINT64_C(0x7FF) << 52);
}

/* x * 2^k for any k, in steps that are powers of two in range. */
static double scale(double x, int k) {
  while (k > 1023) {
    x *= of_bits(UINT64_C(2046) << 52);
    k -= 1023;
  }
  if (k < -1022) { /* one rounding only, at the end */
    x *= of_bits((uint64_t)(1023 + 53) << 52);
    k -= 53;
    while (k < -1022) {
      x *= of_bits(UINT64_C(1) << 52);
      k += 1022;
    }
  }
  return x * of_bits((uint64_t)(k + 1023) << 52);
}

/* exp(hi + lo) for a small lo. */
static double exp_pair(double hi, double lo) {
  static const double c[] = {/* 1/n! from n = 2 */
                             1.0 / 2,        1.0 / 6,         1.0 / 24,
                             1.0 / 120,      1.0 / 720,       1.0 / 5040,
                             1.0 / 40320,    1.0 / 362880,    1.0 / 3628800,
                             1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
  if (is_nan(hi)) return hi;
  if (hi > 709.79) return infinity();
  if (hi < -745.2) return 0;
  int k = (int)(hi * 1.44269504088896338700 + (hi < 0 ? -0.5 : 0.5));
  double a = hi - k * LN2_HI;
  double b = k * LN2_LO - lo;
  double r = a - b, rest = (a - r) - b; /* what rounding r has lost */
  double p = 0;
  for (size_t i = NP_COUNT(c); i-- > 0;) p = p * r + c[i];
  return scale(1 + (r + (rest + r * r * p)), k);
}

double np_exp(double x) {
  return exp_pair(x, 0);
}

/* ---- sums and products without rounding (Dekker, Knuth) ---- */

static pair two_sum(double a, double b) {
  double s = a + b, t = s - a;
  return (pair){s, (a - (s - t)) + (b - t)};
}

static pair split(double a) {
  double t = a * 134217729.0; /* 2^27 + 1 */
  double hi = t - (t - a);
  return (pair){hi, a - hi};
}

static pair two_product(double a, double b) {
  pair x = split(a), y = split(b);
  double p = a * b;
  return (pair){p, ((x.hi * y.hi - p) + x.hi * y.lo + x.lo * y.hi) + x.lo * y.lo};
}

static pair add(pair a, pair b) {
  pair s = two_sum(a.hi, b.hi);
  s.lo += a.lo + b.lo;
  return two_sum(s.hi, s.lo);
}

static pair multiply(pair a, pair b) {
  pair p = two_product(a.hi, b.hi);
  p.lo += a.hi * b.lo + a.lo * b.hi;
  return two_sum(p.hi, p.lo);
}

/* The quotient of a pair and a number near 1 to 2. */
static pair divide(pair a, pair b) {
  double q = a.hi / b.hi;
  pair p = multiply((pair){q, 0}, b);
  double rest = ((a.hi - p.hi) - p.lo) + a.lo;
  return two_sum(q, rest / b.hi);
}

/* log x for a positive finite x, to about 100 bits: x = m * 2^k with m near 1, and
** log m = 2 atanh s with s = (m - 1) / (m + 1). */
static pair log_pair(double x) {
  static const double parts[] = {1.0 / 41, 1.0 / 39, 1.0 / 37, 1.0 / 35, 1.0 / 33,
                                 1.0 / 31, 1.0 / 29, 1.0 / 27, 1.0 / 25, 1.0 / 23,
                                 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13,
                                 1.0 / 11, 1.0 / 9};
  static const pair halves[] = {/* 1/7, 1/5, 1/3 and 1, with what the double leaves */
                                {1.0 / 7, 0x1.2492492492492p-57},
                                {1.0 / 5, -0x1.999999999999ap-57},
                                {1.0 / 3, 0x1.5555555555555p-56},
                                {1, 0}};
  int k = 0;
  if (x < DBL_MIN) {
    x *= 18014398509481984.0; /* 2^54 */
    k = -54;
  }
  uint64_t u = bits_of(x);
  k += (int)(u >> 52) - 1023;
  double m = of_bits((u & ((UINT64_C(1) << 52) - 1)) | (UINT64_C(1023) << 52));
  if (m > 1.4142135623730951) {
    m /= 2;
    k++;
  }
  pair s = divide((pair){m - 1, 0}, two_sum(m, 1));
  pair t = multiply(s, s);
  double tail = 0; /* the terms from t^4 / 9 on need no second half */
  for (size_t i = 0; i < NP_COUNT(parts); i++) tail = tail * t.hi + parts[i];
  pair sum = {tail, 0};
  for (size_t i = 0; i < NP_COUNT(halves); i++) sum = add(multiply(sum, t), halves[i]);
  sum = multiply(sum, s);
  sum = (pair){2 * sum.hi, 2 * sum.lo};
  if (k == 0) return sum;
  return add(two_sum(k * LN2_HI, k * LN2_LO), sum);
}

double np_log_of(double x) {
  if (is_nan(x) || x == infinity()) return x;
  if (x == 0) return -infinity();
  if (x < 0) return infinity() - infinity();
  pair p = log_pair(x);
  return p.hi + p.lo;
}

/* ---- pow ---- */

/* 0: no integer, 1: odd, 2: even. */
static int parity(double y) {
  if (y < 0) y = -y;
  if (y >= 9007199254740992.0) return 2;
  uint64_t n = (uint64_t)y;
  if ((double)n != y) return 0;
  return n & 1 ? 1 : 2;
}

static double pow_positive(double x, double y) {
  if (x == 1) return 1;
  if (x == infinity()) return y > 0 ? x : 0;
  if (x == 0) return y > 0 ? 0 : infinity();
  if (y == infinity() || y == -infinity()) return (x > 1) == (y > 0) ? infinity() : 0;
  if (y > 1e20 || y < -1e20) return (x > 1) == (y > 0) ? infinity() : 0;
  if (y > -1e-30 && y < 1e-30) return 1;
  pair p = multiply(log_pair(x), (pair){y, 0});
  return exp_pair(p.hi, p.lo);
}

/* As C's pow. */
double np_pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (is_nan(x) || is_nan(y)) return x + y;
  if (y == 1) return x;
  bool negative = bits_of(x) >> 63;
  if (!negative) return pow_positive(x, y);
  int kind = parity(y);
  if (x == -1 && (y == infinity() || y == -infinity())) return 1;
  if (kind == 0 && x != 0 && x != -infinity()) return infinity() - infinity();
  double r = pow_positive(-x, y);
  return kind == 1 ? -r : r;
}
