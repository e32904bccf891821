/*
** Marks: what stands where something is not shown. Templates are data (mark.c). Texts hold
** NP_KEY_BYTE where the key goes. next: mark.c
*/
#ifndef NP_RENDER_MARK_H
#define NP_RENDER_MARK_H

#include "render/view.h"

/* What an entry is, in a few words: `bash "make test"`, `user message`. */
void np_mark_what(const np_view *v, const np_entry *en, np_buf *out);
/* `[neap·K 17: bash "make test", step 12, 4,213 tokens not shown; neap_read(17)]` */
void np_mark_masked(const np_view *v, const np_entry *en, np_buf *out);
/* The same and a preview of at most 160 characters. */
void np_mark_reference(const np_view *v, const np_entry *en, np_buf *out);

/* A projection of at most ask->tokens tokens, its mark included. JSON stays JSON where the
** mark fits in it (mark_json.c), a table keeps its head and whole rows (text/table.h), and of
** other texts lines that repeat are folded first. *whole is set, and nothing written, when
** the entry is already small enough, or cannot be cut: a call whose arguments are no JSON
** object, a limit below what the mark alone takes. Of a call each long string is cut, so that it may have more tokens than
** were asked for; lines do not count in it. NEAP_E_MEMORY only. */
neap_rc np_mark_trimmed(np_view *v, const np_entry *en, const np_trim_ask *ask,
                        np_buf *out, bool *whole, np_err *e);

/* `[neap·K steps 3–9 not shown: 14 entries, 21,870 tokens; neap_recall("words")]`; where entries of
** it are named, of the newest results what they are: `…, 21,870 tokens: 12 read "a.c", 17 bash
** "make test"; neap_read(id)]`. */
void np_mark_run(const np_view *v, const np_run *r, np_buf *out);
/* Whether that notice names the entry, which is dropped. */
bool np_mark_names(const np_view *v, int64_t id);
/* What a provider needs in place of a result that was never recorded. */
void np_mark_stub(const np_view *v, const np_entry *call, np_buf *out);
/* What leads a result whose call is not in the history. */
void np_mark_orphan(const np_view *v, const np_entry *result, np_buf *out);
/* `[neap·K 17 = 12: the same 4,213 tokens as bash "make test" of step 3; neap_read(17)]`: where
** result `first` holds the same text and is shown. Whether a mark is one of these. */
void np_mark_same(const np_view *v, const np_entry *en, const np_entry *first,
                  np_buf *out);
bool np_mark_is_same(np_str mark);
/* What stands for an image or file that the provider has no form for. */
void np_mark_foreign(const np_view *v, const np_entry *en, np_buf *out);

/* `[neap·K 17: 3,120 of 4,213 tokens cut, lines 41–380; neap_read(17, "41-380")]` */
void np_mark_cut(const np_view *v, const np_entry *en, int64_t cut, int64_t from,
                 int64_t to, np_buf *out);

#endif
