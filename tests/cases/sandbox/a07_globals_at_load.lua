-- Not while the file loads, either.
-- expect: load global 'pcall' cannot be written
pcall = nil
return { api = 1 }
