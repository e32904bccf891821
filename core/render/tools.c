/*
** Tool schemas of every provider's form, read for the renderers of the others. next: picture.c
*/
#include "render/parts.h"

static void read_parts(np_tool *t, np_json object, const char *schema) {
  np_json_get(object, "name", &t->name);
  np_json_get(object, "description", &t->description);
  np_json_get(object, schema, &t->schema);
}

/* A type that is no function's is a tool that its provider runs itself. */
np_tool np_tool_read(np_json tool) {
  np_tool t = {.raw = tool};
  np_json function, type, schema;
  np_json_get(tool, "type", &type);
  bool plain = !type.type || np_json_is_key(type.raw, "function") ||
               np_json_is_key(type.raw, "custom");
  if (np_json_get(tool, "function", &function) && function.type == NP_JSON_OBJECT) {
    t.shape = NP_SHAPE_CHAT;
    read_parts(&t, function, "parameters");
  } else if (np_json_get(tool, "input_schema", &schema)) {
    t.shape = NP_SHAPE_ANTHROPIC;
    read_parts(&t, tool, "input_schema");
  } else if (type.type && np_json_get(tool, "name", &schema) && plain) {
    t.shape = NP_SHAPE_RESPONSES;
    read_parts(&t, tool, "parameters");
  } else if (!type.type && np_json_get(tool, "name", &schema)) {
    t.shape = NP_SHAPE_GEMINI; /* one declaration */
    read_parts(&t, tool, "parameters");
    if (!t.schema.type) np_json_get(tool, "inputSchema", &t.schema);
  } else {
    /* Anthropic's own have a name and a dated type, OpenAI's a type alone */
    bool named = np_json_get(tool, "name", &schema);
    t.own = true;
    t.shape = named       ? NP_SHAPE_ANTHROPIC
              : type.type ? NP_SHAPE_RESPONSES
                          : NP_SHAPE_GEMINI;
    if (named) t.name = schema;
  }
  return t;
}
