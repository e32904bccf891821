/*
** Changes of single entries, for pack/ only. next: change.c
*/
#ifndef NP_PACK_CHANGE_H
#define NP_PACK_CHANGE_H

#include "pack/pack.h"

/* Notes a change for the account and the undo. False when out of memory. */
bool np_pack_record(np_pack *p, int64_t id, np_rung from, np_rung to, np_str text_before,
                    bool atom, np_reason r);

/* Refuses with a static text. */
np_verdict np_pack_refuse(np_pack *p, const char *why);

/* Whether the entry's kind knows the rung at all; what only its provider reads has two. */
bool np_entry_allows(const np_entry *en, np_rung rung);

/* Why an open thinking loop keeps the entry as it is, or NULL. loop.c */
const char *np_pack_loop_blocks(const np_pack *p, int64_t id);
/* Drops the thoughts of its steps: what was of the loop is then history. */
neap_rc np_pack_close_loop(np_pack *p, np_err *e);

/* What the entry would show at a rung, in the turn's arena, and its tokens there; preview.c.
** NP_SAME when there is nothing to cut. */
/* What an entry would lose: its identifiers, or what its facts weigh; and what of that a text of
** it shows. */
double np_pack_worth(const np_pack *p, const np_entry *en);
np_verdict np_pack_text_of(np_pack *p, const np_entry *en, np_rung rung,
                           const np_trim_ask *ask, np_str *out);
uint32_t np_pack_text_tokens(np_pack *p, const np_entry *en, np_str text);
/* The ladder's trim, `level` counted from 0; its tokens, 0: there is none. */
np_trim_ask np_pack_ladder_ask(const np_pack *p, const np_entry *en, int level);
int64_t np_pack_trim_tokens(const np_pack *p, int level);

/* The steps down: the ladder's trims, then reference, then masked. */
static inline np_rung np_step_rung(int step) {
  return step < NP_TRIMS ? NP_TRIMMED : (np_rung)(step - NP_TRIMS + NP_REFERENCE);
}
static inline int np_rung_step(np_rung rung) {
  return rung == NP_TRIMMED ? 0 : NP_TRIMS + (int)rung - NP_REFERENCE;
}

/* The tokens of an entry at a step; NP_SAME when it cannot be cut or would not be cheaper than
** now. Made once and remembered. */
np_verdict np_pack_preview_step(np_pack *p, int64_t id, int step, uint32_t *tokens);
np_verdict np_pack_preview(np_pack *p, int64_t id, np_rung rung, uint32_t *tokens);
/* Identifiers in a text, each counted once. */
double np_pack_shown_worth(np_pack *p, const np_entry *en, np_str text);
/* Lowers without asking about pins and holds; cheaper or NP_SAME. */
np_verdict np_pack_lower(np_pack *p, int64_t id, np_rung rung, np_reason r);
np_verdict np_pack_lower_step(np_pack *p, int64_t id, int step, np_reason r);
/* Trims to `tokens` with both ends kept, also what is trimmed already. */
np_verdict np_pack_retrim(np_pack *p, int64_t id, int64_t tokens, np_reason r);
np_verdict np_pack_drop_atom(np_pack *p, uint32_t atom, np_reason r);

/* Whether an atom may be dropped: none of its entries is pinned, held or of another region. */
bool np_pack_may_drop(const np_pack *p, uint32_t atom);
/* The same when what only a policy holds counts as free. */
bool np_pack_may_drop_held(const np_pack *p, uint32_t atom);

/* The ladder's trim for an entry. */
np_keep np_pack_trim_keep(const np_pack *p, const np_entry *en);

#endif
