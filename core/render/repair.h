/*
** What is done to entries that a provider would refuse as they came, or has no form for: so that
** an account can tell. Looks at an entry as the next prompt shows it; changes nothing.
** next: repair.c, repair_forms.c
*/
#ifndef NP_RENDER_REPAIR_H
#define NP_RENDER_REPAIR_H

#include "render/view.h"

/* Name, and what it says of the entry. */
#define NP_REPAIRS(X)                                                                    \
  X(EMPTY, "empty")         /* an empty or blank text is left out, a content made */     \
  X(SURROGATE, "surrogate") /* half a surrogate pair became U+FFFD */                    \
  X(ID, "id")               /* its call goes out under an id that was made */            \
  X(NAME, "name")           /* its function's name has other characters */               \
  X(ARGUMENTS, "arguments") /* they were no JSON object and stand in one */              \
  X(STUB, "stub")           /* a call without a result got one that says so */           \
  X(ORPHAN, "orphan")       /* a result without its call goes as the user's text */      \
  X(THOUGHT, "thought") /* unsigned, of another provider, or leading to nothing: out */  \
  X(PARTED, "parted")   /* a thought behind other blocks begins a message */             \
  X(OPAQUE, "opaque")   /* what only its own provider reads is left out */               \
  X(PICTURE, "picture") /* an image or file in it has no place: a word says so */        \
  X(PART, "part")       /* it goes as a part or item of another type */                  \
  X(ROLE, "role")       /* a system message in the middle goes as the user's */          \
  X(MEMBER, "member")   /* members of its message that are not known are left out */     \
  X(SIGNATURE, "signature") /* the word for "not signed" stands on it */                 \
  X(FIRST, "first")         /* the user's word was put before it */                      \
  X(LAST, "last")           /* the user's word was put behind it */

typedef enum np_repair {
#define NP_X(id, name) NP_REPAIR_##id,
  NP_REPAIRS(NP_X)
#undef NP_X
      NP_REPAIR_COUNT
} np_repair;
const char *np_repair_name(np_repair r);

#define NP_REPAIRED(name) (UINT32_C(1) << NP_REPAIR_##name)

/* What was found for the responses looked at last, so that many calls of one cost one walk. All
** zero at first; good while the view stays as it is. */
typedef struct np_repair_memo {
  struct {
    int64_t lead; /* its first message, counted from 1 */
    int64_t first;
    bool named;
  } group[64];
} np_repair_memo;

/* The set of an entry, a bit for each: 0 where it goes out as it came, or is written anew only
** since its message is of another form. Costs what the entry's bytes do. */
uint32_t np_repairs(const np_view *v, const np_entry *en, np_repair_memo *memo);

/* What a format adds for an entry that is listed. */
uint32_t np_openai_repairs(const np_view *v, const np_entry *en, np_repair_memo *memo);
uint32_t np_responses_repairs(const np_view *v, const np_entry *en, np_repair_memo *memo);
uint32_t np_anthropic_repairs(const np_view *v, const np_entry *en, np_repair_memo *memo);
uint32_t np_gemini_repairs(const np_view *v, const np_entry *en, np_repair_memo *memo);

#endif
