/*
** Histories and the bodies that they become: what, messages one a line, changes, body.
** next: test_anthropic.c
*/
{"a string stays a string", "{'role':'user','content':'go'}\n", "",
 "{'messages':[{'role':'user','content':'go'}]}"},
    {"a system string, an answer",
     "{'role':'system','content':'be brief'}\n"
     "{'role':'user','content':'go'}\n"
     "{'role':'assistant','content':'ok'}\n"
     "{'role':'user','content':'more'}\n",
     "",
     "{'system':'be brief','messages':[{'role':'user','content':'go'},{'role':"
     "'assistant','content':'ok'},{'role':'user','content':'more'}]}"},
    {"system blocks keep their bytes",
     "{'role':'system','content':[ {'type':'text','text':'a','cache_control':{"
     "'type':'ephemeral'}} ]}\n"
     "{'role':'user','content':'go'}\n",
     "",
     "{'system':[ {'type':'text','text':'a','cache_control':{'type':'ephemeral"
     "'}} ],'messages':[{'role':'user','content':'go'}]}"},
    {"two system messages are one list",
     "{'role':'system','content':'a'}\n"
     "{'role':'system','content':'b'}\n"
     "{'role':'user','content':'go'}\n",
     "",
     "{'system':[{'type':'text','text':'a'},{'type':'text','text':'b'}],'messa"
     "ges':[{'role':'user','content':'go'}]}"},
    {"a developer of another form is system",
     "{'role':'developer','content':'a'}\n"
     "{'role':'user','content':'go'}\n",
     "",
     "{'system':[{'type':'text','text':'a'}],'messages':[{'role':'user','conte"
     "nt':'go'}]}"},
    {"a late system message is user text",
     "{'role':'user','content':'go'}\n"
     "{'role':'assistant','content':'ok'}\n"
     "{'role':'system','content':'be brief'}\n",
     "",
     "{'messages':[{'role':'user','content':'go'},{'role':'assistant','content"
     "':'ok'},{'role':'user','content':[{'type':'text','text':'[system]\\nbe b"
     "rief'}]}]}"},
    {"white space and order of members stay",
     "{ 'content' : [ {'text':'a','type':'text'} ] , 'role' : 'user' }\n", "",
     "{'messages':[{ 'content' : [ {'text':'a','type':'text'} ] , 'role' : 'us"
     "er' }]}"},
    {"texts of one role make one message",
     "{'role':'user','content':'go'}\n"
     "{'role':'user','content':[{'type':'text','text':'and'}]}\n"
     "{'role':'user','content':'more'}\n",
     "",
     "{'messages':[{'role':'user','content':[{'type':'text','text':'go'},{'typ"
     "e':'text','text':'and'},{'type':'text','text':'more'}]}]}"},
    {"a call with its result",
     "{'role':'user','content':'go'}\n"
     "{'role':'assistant','content':[{'type':'tool_use','id':'t1','name':'bash"
     "','input':{'n':1.0}}]}\n"
     "{'role':'user','content':[{'type':'tool_result','tool_use_id':'t1','cont"
     "ent':'x'}]}\n",
     "",
     "{'messages':[{'role':'user','content':'go'},{'role':'assistant','content"
     "':[{'type':'tool_use','id':'t1','name':'bash','input':{'n':1.0}}]},{'rol"
     "e':'user','content':[{'type':'tool_result','tool_use_id':'t1','content':"
     "'x'}]}]}"},
    {"results come before texts, wherever they stood",
     "{'role':'user','content':'go'}\n"
     "{'role':'assistant','content':[{'type':'tool_use','id':'t1','name':'a','"
     "input':{}},{'type':'tool_use','id':'t2','name':'b','input':{}}]}\n"
     "{'role':'user','content':[{'type':'text','text':'wait'},{'type':'tool_re"
     "sult','tool_use_id':'t2','content':'y'},{'type':'tool_result','tool_use_"
     "id':'t1','content':'x'}]}\n",
     "",
     "{'messages':[{'role':'user','content':'go'},{'role':'assistant','content"
     "':[{'type':'tool_use','id':'t1','name':'a','input':{}},{'type':'tool_use"
     "','id':'t2','name':'b','input':{}}]},{'role':'user','content':[{'type':'"
     "tool_result','tool_use_id':'t2','content':'y'},{'type':'tool_result','to"
     "ol_use_id':'t1','content':'x'},{'type':'text','text':'wait'}]}]}"},
    {"chat messages, parallel calls",
     "{'role':'user','content':'go','name':'ann'}\n"
     "{'role':'assistant','content':'look','tool_calls':[{'id':'c.1','type':'f"
     "unction','function':{'name':'a b','arguments':'{\\'n\\': 1.0}'}},{'id':'"
     "c2','type':'function','function':{'name':'b','arguments':''}},{'id':'c3'"
     ",'type':'function','function':{'name':'b','arguments':'oops'}}]}\n"
     "{'role':'tool','tool_call_id':'c.1','content':'x'}\n"
     "{'role':'tool','tool_call_id':'c2','content':'y','is_error':true}\n"
     "{'role':'tool','tool_call_id':'c3','content':[{'type':'text','text':'z'}"
     ",{'type':'text','text':'!'}]}\n"
     "{'role':'user','content':'on'}\n",
     "",
     "{'messages':[{'role':'user','content':[{'type':'text','text':'ann: go'}]"
     "},{'role':'assistant','content':[{'type':'text','text':'look'},{'type':'"
     "tool_use','id':'neap_3','name':'a_b','input':{'n': 1.0}},{'type':'tool_u"
     "se','id':'c2','name':'b','input':{}},{'type':'tool_use','id':'c3','name'"
     ":'b','input':{'input':'oops'}}]},{'role':'user','content':[{'type':'tool"
     "_result','tool_use_id':'neap_3','content':'x'},{'type':'tool_result','to"
     "ol_use_id':'c2','content':'y','is_error':true},{'type':'tool_result','to"
     "ol_use_id':'c3','content':'z!'},{'type':'text','text':'on'}]}]}"},
    {"a call without a result says so",
     "{'role':'user','content':'go'}\n"
     "{'role':'assistant','content':'','tool_calls':[{'id':'c1','function':{'n"
     "ame':'a','arguments':'{}'}}]}\n",
     "",
     "{'messages':[{'role':'user','content':'go'},{'role':'assistant','content"
     "':[{'type':'tool_use','id':'c1','name':'a','input':{}}]},{'role':'user',"
     "'content':[{'type':'tool_result','tool_use_id':'c1','content':'[neap·aaa"
     "a 3: no result was recorded for this call]'}]}]}"},
    {"a result without its call is text",
     "{'role':'user','content':'go'}\n"
     "{'role':'tool','tool_call_id':'c1','content':'x'}\n",
     "",
     "{'messages':[{'role':'user','content':[{'type':'text','text':'go'},{'typ"
     "e':'text','text':'[neap·aaaa 2: a result whose call is not in the histor"
     "y]\\nx'}]}]}"},
    {"an id used again gets another",
     "{'role':'user','content':'go'}\n"
     "{'role':'assistant','content':[{'type':'tool_use','id':'t1','name':'a','"
     "input':{}}]}\n"
     "{'role':'user','content':[{'type':'tool_result','tool_use_id':'t1','cont"
     "ent':'x'}]}\n"
     "{'role':'assistant','content':[{'type':'tool_use','id':'t1','name':'a','"
     "input':{'k':2}}]}\n"
     "{'role':'user','content':[{'type':'tool_result','tool_use_id':'t1','cont"
     "ent':'y','is_error':false}]}\n",
     "",
     "{'messages':[{'role':'user','content':'go'},{'role':'assistant','content"
     "':[{'type':'tool_use','id':'t1','name':'a','input':{}}]},{'role':'user',"
     "'content':[{'type':'tool_result','tool_use_id':'t1','content':'x'}]},{'r"
     "ole':'assistant','content':[{'type':'tool_use','id':'neap_4','name':'a',"
     "'input':{'k':2}}]},{'role':'user','content':[{'type':'tool_result','tool"
     "_use_id':'neap_4','content':'y','is_error':false}]}]}"},
    {"empty texts and a null in results are left out",
     "{'role':'user','content':'go'}\n"
     "{'role':'assistant','content':[{'type':'tool_use','id':'t1','name':'a','"
     "input':{}},{'type':'tool_use','id':'t2','name':'a','input':{}},{'type':'"
     "tool_use','id':'t3','name':'a','input':{}}]}\n"
     "{'role':'user','content':[{'type':'tool_result','tool_use_id':'t1','cont"
     "ent':[{'type':'text','text':''}, {'type':'text', 'text':'x'}]},{'type':'"
     "tool_result','tool_use_id':'t2','content':null},{'type':'tool_result','t"
     "ool_use_id':'t3','content':[{'type':'text','text':''}],'is_error':true}]"
     "}\n",
     "",
     "{'messages':[{'role':'user','content':'go'},{'role':'assistant','content"
     "':[{'type':'tool_use','id':'t1','name':'a','input':{}},{'type':'tool_use"
     "','id':'t2','name':'a','input':{}},{'type':'tool_use','id':'t3','name':'"
     "a','input':{}}]},{'role':'user','content':[{'type':'tool_result','tool_u"
     "se_id':'t1','content':[{'type':'text', 'text':'x'}]},{'type':'tool_resul"
     "t','tool_use_id':'t2','content':''},{'type':'tool_result','tool_use_id':"
     "'t3','content':[],'is_error':true}]}]}"},
    {"thoughts that nobody signed are left out",
     "{'role':'user','content':'go'}\n"
     "{'role':'assistant','content':[{'type':'thinking','thinking':'h'},{'type"
     "':'thinking','thinking':'h','signature':''},{'type':'redacted_thinking'}"
     ",{'type':'thinking','thinking':'k','signature':'s'},{'type':'text','text"
     "':'ok'}]}\n"
     "{'role':'user','content':'more'}\n",
     "",
     "{'messages':[{'role':'user','content':'go'},{'role':'assistant','content"
     "':[{'type':'thinking','thinking':'k','signature':'s'},{'type':'text','te"
     "xt':'ok'}]},{'role':'user','content':'more'}]}"},
    {"an answer first",
     "{'role':'assistant','content':'hello'}\n"
     "{'role':'user','content':'go'}\n",
     "",
     "{'messages':[{'role':'user','content':[{'type':'text','text':'(no user m"
     "essage stands before this)'}]},{'role':'assistant','content':'hello'},{'"
     "role':'user','content':'go'}]}"},
    {"an answer last",
     "{'role':'user','content':'go'}\n"
     "{'role':'assistant','content':'ok'}\n",
     "",
     "{'messages':[{'role':'user','content':'go'},{'role':'assistant','content"
     "':'ok'},{'role':'user','content':[{'type':'text','text':'(go on)'}]}]}"},
    {"two answers in a row",
     "{'role':'user','content':'go'}\n"
     "{'role':'assistant','content':'a'}\n"
     "{'role':'assistant','content':[{'type':'text','text':'b'}]}\n"
     "{'role':'user','content':'c'}\n",
     "",
     "{'messages':[{'role':'user','content':'go'},{'role':'assistant','content"
     "':[{'type':'text','text':'a'},{'type':'text','text':'b'}]},{'role':'user"
     "','content':'c'}]}"},
    {"thoughts keep their bytes",
     "{'role':'user','content':'go'}\n"
     "{'role':'assistant','content':[{'type':'thinking','thinking':'h\\u006d',"
     "'signature':'c2ln'},{'type':'redacted_thinking','data':'zz'},{'type':'to"
     "ol_use','id':'t1','name':'a','input':{}}]}\n"
     "{'role':'user','content':[{'type':'tool_result','tool_use_id':'t1'}]}\n",
     "",
     "{'messages':[{'role':'user','content':'go'},{'role':'assistant','content"
     "':[{'type':'thinking','thinking':'h\\u006d','signature':'c2ln'},{'type':"
     "'redacted_thinking','data':'zz'},{'type':'tool_use','id':'t1','name':'a'"
     ",'input':{}}]},{'role':'user','content':[{'type':'tool_result','tool_use"
     "_id':'t1'}]}]}"},
    {"a result masked beside a thought",
     "{'role':'user','content':'go'}\n"
     "{'role':'assistant','content':[{'type':'thinking','thinking':'hm','signa"
     "ture':'c2ln'},{'type':'tool_use','id':'t1','name':'bash','input':{'comma"
     "nd':'make test'}}]}\n"
     "{'role':'user','content':[{'type':'tool_result','tool_use_id':'t1','cont"
     "ent':'long result long result long result long result long result long r"
     "esult long result long result long result long result long result long r"
     "esult long result long result long result long result long result long r"
     "esult long result long result long result long result long result long r"
     "esult long result long result long result long result long result long r"
     "esult ','is_error':false}]}\n",
     "m4",
     "{'messages':[{'role':'user','content':'go'},{'role':'assistant','content"
     "':[{'type':'thinking','thinking':'hm','signature':'c2ln'},{'type':'tool_"
     "use','id':'t1','name':'bash','input':{'command':'make test'}}]},{'role':"
     "'user','content':[{'type':'tool_result','tool_use_id':'t1','content':'[n"
     "eap·aaaa 4: bash \\'make test\\', step 1, 61 tokens not shown]','is_erro"
     "r':false}]}]}"},
    {"thoughts of other forms are left out",
     "{'role':'user','content':'go'}\n"
     "{'role':'assistant','reasoning':'hm','content':'ok'}\n"
     "{'type':'reasoning','id':'r','summary':[],'encrypted_content':'zz'}\n"
     "{'role':'model','parts':[{'text':'hm','thought':true},{'text':'fine'}]}\n"
     "{'role':'user','content':'go'}\n",
     "",
     "{'messages':[{'role':'user','content':'go'},{'role':'assistant','content"
     "':[{'type':'text','text':'ok'},{'type':'text','text':'fine'}]},{'role':'"
     "user','content':'go'}]}"},
    {"an empty and a blank text",
     "{'role':'user','content':[{'type':'text','text':''},{'type':'text','text"
     "':'go'}]}\n"
     "{'role':'assistant','content':[{'type':'text','text':' \\n'},{'type':'te"
     "xt','text':'ok'}]}\n"
     "{'role':'user','content':'  '}\n",
     "",
     "{'messages':[{'role':'user','content':[{'type':'text','text':'go'}]},{'r"
     "ole':'assistant','content':[{'type':'text','text':'ok'}]},{'role':'user'"
     ",'content':[{'type':'text','text':'(go on)'}]}]}"},
    {"half a surrogate pair", "{'role':'user','content':'a\\ud83d'}\n", "",
     "{'messages':[{'role':'user','content':[{'type':'text','text':'a�'}]}]}"},
    {"the provider's own tools stay whole",
     "{'role':'user','content':'go'}\n"
     "{'role':'assistant','content':[{'type':'server_tool_use','id':'s','name'"
     ":'web_search','input':{'q':1.0}},{'type':'web_search_tool_result','tool_"
     "use_id':'s','content':[]},{'type':'text','text':'ok'}]}\n"
     "{'role':'user','content':'go'}\n",
     "",
     "{'messages':[{'role':'user','content':'go'},{'role':'assistant','content"
     "':[{'type':'server_tool_use','id':'s','name':'web_search','input':{'q':1"
     ".0}},{'type':'web_search_tool_result','tool_use_id':'s','content':[]},{'"
     "type':'text','text':'ok'}]},{'role':'user','content':'go'}]}"},
    {"dropped steps leave a notice in the user's turn",
     "{'role':'user','content':'go'}\n"
     "{'role':'assistant','content':'a'}\n"
     "{'role':'user','content':'b'}\n"
     "{'role':'assistant','content':'c'}\n"
     "{'role':'user','content':'d'}\n",
     "d2 d3 d4",
     "{'messages':[{'role':'user','content':[{'type':'text','text':'go'},{'typ"
     "e':'text','text':'[neap·aaaa steps 1–2 not shown: 3 entries, 15 tokens]'"
     "},{'type':'text','text':'d'}]}]}"},
    {"pictures of other forms",
     "{'role':'user','content':[{'type':'text','text':'see'},{'type':'image_ur"
     "l','image_url':{'url':'data:image/png;base64,AAAA'}},{'type':'image_url'"
     ",'image_url':{'url':'https://x.example/a.png'}},{'type':'image_url','ima"
     "ge_url':{'url':'data:image/tiff;base64,AAAA'}}]}\n"
     "{'role':'user','parts':[{'inlineData':{'mimeType':'image/jpeg','data':'A"
     "AAA'}},{'inlineData':{'mimeType':'application/pdf','data':'AAAA'}},{'fil"
     "eData':{'mimeType':'video/mp4','fileUri':'gs://x'}}]}\n",
     "",
     "{'messages':[{'role':'user','content':[{'type':'text','text':'see'},{'ty"
     "pe':'image','source':{'type':'base64','media_type':'image/png','data':'A"
     "AAA'}},{'type':'image','source':{'type':'url','url':'https://x.example/a"
     ".png'}},{'type':'text','text':'[neap·aaaa 4: image in a form that this m"
     "odel does not take]'},{'type':'image','source':{'type':'base64','media_t"
     "ype':'image/jpeg','data':'AAAA'}},{'type':'document','source':{'type':'b"
     "ase64','media_type':'application/pdf','data':'AAAA'}},{'type':'text','te"
     "xt':'[neap·aaaa 7: file in a form that this model does not take]'}]}]}"},
    {"items of Responses",
     "{'role':'user','content':[{'type':'input_text','text':'go'}]}\n"
     "{'type':'message','role':'assistant','content':[{'type':'output_text','t"
     "ext':'look'}]}\n"
     "{'type':'function_call','call_id':'c1','name':'a','arguments':'{\\'n\\':"
     "1.0}'}\n"
     "{'type':'custom_tool_call','call_id':'c2','name':'patch','input':'*** Be"
     "gin'}\n"
     "{'type':'function_call_output','call_id':'c1','output':'x'}\n"
     "{'type':'custom_tool_call_output','call_id':'c2','output':'y'}\n",
     "",
     "{'messages':[{'role':'user','content':[{'type':'text','text':'go'}]},{'r"
     "ole':'assistant','content':[{'type':'text','text':'look'},{'type':'tool_"
     "use','id':'c1','name':'a','input':{'n':1.0}},{'type':'tool_use','id':'c2"
     "','name':'patch','input':{'input':'*** Begin'}}]},{'role':'user','conten"
     "t':[{'type':'tool_result','tool_use_id':'c1','content':'x'},{'type':'too"
     "l_result','tool_use_id':'c2','content':'y'}]}]}"},
    {"contents of Gemini",
     "{'role':'user','parts':[{'text':'go'}]}\n"
     "{'role':'model','parts':[{'text':'look'},{'functionCall':{'name':'a','ar"
     "gs':{'n':1.0}},'thoughtSignature':'s'}]}\n"
     "{'role':'user','parts':[{'functionResponse':{'name':'a','response':{'out"
     "put':'x'}}}]}\n",
     "",
     "{'messages':[{'role':'user','content':[{'type':'text','text':'go'}]},{'r"
     "ole':'assistant','content':[{'type':'text','text':'look'},{'type':'tool_"
     "use','id':'neap_3','name':'a','input':{'n':1.0}}]},{'role':'user','conte"
     "nt':[{'type':'tool_result','tool_use_id':'neap_3','content':'x'}]}]}"},
    {"the oldest of five marks goes",
     "{'role':'system','content':[{'type':'text','text':'s','cache_control':{'"
     "type':'ephemeral'}}]}\n"
     "{'role':'user','content':[{'type':'text','text':'u0','cache_control':{'t"
     "ype':'ephemeral'}}]}\n"
     "{'role':'assistant','content':'a0'}\n"
     "{'role':'user','content':[{'type':'text','text':'u1','cache_control':{'t"
     "ype':'ephemeral'}}]}\n"
     "{'role':'assistant','content':'a1'}\n"
     "{'role':'user','content':[{'type':'text','text':'u2','cache_control':{'t"
     "ype':'ephemeral'}}]}\n"
     "{'role':'assistant','content':'a2'}\n"
     "{'role':'user','content':[{'type':'text','text':'u3','cache_control':{'t"
     "ype':'ephemeral'}}]}\n"
     "{'role':'assistant','content':'a3'}\n"
     "{'role':'user','content':'go'}\n",
     "",
     "{'system':[{'type':'text','text':'s','cache_control':{'type':'ephemeral'"
     "}}],'messages':[{'role':'user','content':[{'type':'text','text':'u0'}]},"
     "{'role':'assistant','content':'a0'},{'role':'user','content':[{'type':'t"
     "ext','text':'u1','cache_control':{'type':'ephemeral'}}]},{'role':'assist"
     "ant','content':'a1'},{'role':'user','content':[{'type':'text','text':'u2"
     "','cache_control':{'type':'ephemeral'}}]},{'role':'assistant','content':"
     "'a2'},{'role':'user','content':[{'type':'text','text':'u3','cache_contro"
     "l':{'type':'ephemeral'}}]},{'role':'assistant','content':'a3'},{'role':'"
     "user','content':'go'}]}"},
    {"a trimmed text keeps its mark",
     "{'role':'user','content':'go'}\n"
     "{'role':'assistant','content':'ok'}\n"
     "{'role':'user','content':[{'type':'text','text':'many words of a long te"
     "xt many words of a long text many words of a long text many words of a l"
     "ong text many words of a long text many words of a long text many words "
     "of a long text many words of a long text many words of a long text many "
     "words of a long text many words of a long text many words of a long text"
     " many words of a long text many words of a long text many words of a lon"
     "g text many words of a long text many words of a long text many words of"
     " a long text many words of a long text many words of a long text many wo"
     "rds of a long text many words of a long text many words of a long text m"
     "any words of a long text many words of a long text many words of a long "
     "text many words of a long text many words of a long text many words of a"
     " long text many words of a long text many words of a long text many word"
     "s of a long text many words of a long text many words of a long text man"
     "y words of a long text many words of a long text many words of a long te"
     "xt many words of a long text many words of a long text many words of a l"
     "ong text ','cache_control':{'type':'ephemeral'}}]}\n"
     "{'role':'assistant','content':'ok'}\n"
     "{'role':'user','content':'go'}\n",
     "m3",
     "{'messages':[{'role':'user','content':'go'},{'role':'assistant','content"
     "':'ok'},{'role':'user','content':[{'type':'text','text':'[neap·aaaa 3: u"
     "ser message, step 1, 245 tokens not shown]','cache_control':{'type':'eph"
     "emeral'}}]},{'role':'assistant','content':'ok'},{'role':'user','content'"
     ":'go'}]}"},
    {"a renewed key",
     "{'role':'user','content':'go'}\n"
     "{'role':'assistant','content':'','tool_calls':[{'id':'c1','function':{'n"
     "ame':'a','arguments':'{}'}}]}\n",
     "k",
     "{'messages':[{'role':'user','content':'go'},{'role':'assistant','content"
     "':[{'type':'tool_use','id':'c1','name':'a','input':{}}]},{'role':'user',"
     "'content':[{'type':'tool_result','tool_use_id':'c1','content':'[neap·bbb"
     "b 3: no result was recorded for this call]'}]}]}"},
    {"members that the provider does not take",
     "{'role':'user','content':[{'type':'text','text':'a'}],'ts':5}\n"
     "{'role':'assistant','content':[{'type':'text','text':'b'}],'stop_reason'"
     ":'end_turn','id':'m'}\n"
     "{'role':'user','content':'go'}\n",
     "",
     "{'messages':[{'role':'user','content':[{'type':'text','text':'a'}]},{'ro"
     "le':'assistant','content':[{'type':'text','text':'b'}]},{'role':'user','"
     "content':'go'}]}"},
    {"a notice never parts a call from its results",
     "{'role':'user','content':'go'}\n"
     "{'role':'assistant','content':[{'type':'tool_use','id':'a','name':'b','input':{}}]}"
     "\n"
     "{'role':'user','content':[{'type':'text','text':'first a word'},"
     "{'type':'tool_result','tool_use_id':'a','content':'done'}]}\n"
     "{'role':'assistant','content':'ok'}\n{'role':'user','content':'more'}\n",
     "d3",
     "{'messages':[{'role':'user','content':'go'},{'role':'assistant','content"
     "':[{'type':'tool_use','id':'a','name':'b','input':{}}]},{'role':'user','"
     "content':[{'type':'tool_result','tool_use_id':'a','content':'done'},{'ty"
     "pe':'text','text':'[neap·aaaa step 1 not shown: 1 entry, 7 tokens]'}]},{"
     "'role':'assistant','content':'ok'},{'role':'user','content':'more'}]}"},
