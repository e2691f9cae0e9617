-- Sessions in which there is something to read or to keep, over all namespaces: what the worker asks for every few
-- seconds. Nearly always there are none, so it costs next to nothing.
CREATE INDEX session_state_waiting ON session_state (active) WHERE learned_upto < last_sequence OR claims_left > 0;
