/* Calendar dates as YYYYMMDD numbers, so that they compare. */
#ifndef DATE_H
#define DATE_H

/* Reads "2024-03-01". 0, or E_DATE. */
int date_parse(const char *s, int *out);
/* Days in a month of a year, 0 for a month that is none. */
int date_days_in_month(int year, int month);

#endif
