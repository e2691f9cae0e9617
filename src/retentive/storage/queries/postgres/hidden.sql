-- fragment: session_of_origin
-- As the index has it.
({origin_json} ->> 'session')
