-- Grammars are not for policies.
-- expect: load not in the policy's folder
local lpeg = require("lpeg")
return { api = 1 }
