/*
** What session.c and inspect.c share. next: session.c
*/
#ifndef NP_BIND_SESSION_H
#define NP_BIND_SESSION_H

#include <lauxlib.h>

#include "engine/engine.h"

typedef struct session_box {
  neap_session *s; /* NULL when closed */
} session_box;

/* Argument 1, or its shadow for a method with a true upvalue; raises when there is none. */
neap_session *np_bind_to_session(lua_State *L);

/* Argument 1, an engine that is open. */
neap *np_bind_to_engine(lua_State *L);
/* nil, the engine's last message, the code; returns 3. */
int np_bind_push_failure(lua_State *L, const neap *n, neap_rc rc);

/* Methods of an engine: the sessions in its store; stored.c. */
extern const luaL_Reg np_bind_stored[];
/* The state object: methods of a session, and of an engine; object.c. */
extern const luaL_Reg np_bind_object[];
int np_bind_state_stored(lua_State *L);
int np_bind_state_stored_propose(lua_State *L);
/* Methods of engines and sessions for artifacts; artifact.c. */
extern const luaL_Reg np_bind_artifacts[];
extern const luaL_Reg np_bind_session_artifacts[];

/* Methods that look at a session's policy; policy.c. */
extern const luaL_Reg np_bind_hooks[];
/* Methods that look at a session without changing it. */
extern const luaL_Reg np_bind_inspect[];
extern const luaL_Reg np_bind_inspect_shadow[];
/* What the laboratory asks for in bulk; lab.c. */
extern const luaL_Reg np_bind_lab[];
extern const luaL_Reg np_bind_lab_shadow[];

#endif
