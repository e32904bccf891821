/*
** Pieces of JSON that every provider's renderer writes: raw bytes, replaced texts, ids and
** arguments of calls, images, the host's own members. next: parts.c, tools.c, picture.c
*/
#ifndef NP_RENDER_PARTS_H
#define NP_RENDER_PARTS_H

#include "render/view.h"

/* Raw bytes of a message; half a surrogate pair goes out as U+FFFD. */
void np_part_raw(const np_message *m, np_str raw, np_buf *out);
/* A text as a JSON string, the mark key filled in. */
void np_part_quote(const np_view *v, np_str text, np_buf *out);
/* Appends the text that a provider gets for an entry, of which `text` is shown (NULL: its
** own), the key filled in: an orphan is led by a line that says so, a speaker's name by the
** name where the form has no other place for it; a part that it cannot take is a mark. */
void np_part_text(const np_view *v, const np_entry *en, const np_str *text, np_buf *out);
/* The same for what the view shows of it, as a JSON string. */
void np_part_shown(const np_view *v, const np_entry *en, np_buf *out);
/* Tokens of a text, of what np_part_text makes of an entry. */
uint32_t np_part_count(const np_view *v, np_str text);
uint32_t np_part_tokens(const np_view *v, const np_entry *en, const np_str *text);

/* Tokens of raw bytes as they go out. */
uint32_t np_part_raw_tokens(const np_view *v, const np_message *m, np_str raw);

/* The object with the string member `key` replaced by `text`, other bytes as they are. */
void np_part_replace(const np_view *v, const np_message *m, np_json object,
                     const char *key, np_str text, np_buf *out);

/* Whether the group is one whole message of the format's own shape, of which everything is
** shown in its own order: its bytes can go out as they came in. */
bool np_part_is_whole(const np_view *v, const np_group *g);

/* ---- calls ---- */

/* The id of a call for a provider that wants [A-Za-z0-9_-] and each id once: its own, or where
** that will not do, one made of its number. Not quoted; at most 64 bytes. */
void np_part_call_id(const np_entry *call, np_buf *out);
/* Whether that is its own id. */
bool np_part_keeps_id(const np_entry *call);
/* One made of its number. */
void np_part_made_id(const np_entry *call, np_buf *out);
/* Whether an id has the form of those that are made here: no other goes out with it. */
bool np_part_is_made(np_str id);
/* A name of [A-Za-z0-9_-], at most 64 of them; what is not becomes `_`. */
void np_part_name(np_str name, np_buf *out);
/* Arguments as a JSON object, byte for byte where they are one; else an object that holds
** them as `input`. Nothing is the empty object. The mark key must be filled in. */
void np_part_arguments(np_str text, np_buf *out);
/* What is shown of a call's arguments, the same way. */
void np_part_call_shown(const np_view *v, const np_entry *call, np_buf *out);
/* Text of the result that a provider must have for a call without one. */
void np_part_stub(const np_view *v, const np_entry *call, np_buf *out);

/* ---- the request ---- */

/* `{` and the host's members, with a comma behind them if there are any. */
void np_part_request(const np_view *v, np_buf *out);
/* The list of tools, of type NONE when there is none or it is empty. */
np_json np_part_tools(const np_view *v);

/* A tool's schema, whichever provider's form it has. */
typedef struct np_tool {
  np_json raw;
  np_shape shape;
  bool own;                          /* runs at its provider: only there it is a tool */
  np_json name, description, schema; /* of type NONE where it has none */
} np_tool;
np_tool np_tool_read(np_json tool);

/* ---- images ---- */

/* Where a picture is: its bytes, or its address. Slices are of raw JSON, in which base64 and
** addresses are spelled out but for an escaped slash. */
typedef struct np_picture {
  np_str type; /* "image/png", empty when not told */
  np_str data; /* base64, empty when it is elsewhere */
  np_str url;  /* empty when it is here */
} np_picture;
/* Reads an image part of any shape; false when it has neither bytes nor an address. */
bool np_picture_read(np_json part, np_picture *out);

#endif
