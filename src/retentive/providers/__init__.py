"""Who is asked over the network? Providers of models, by name or by address. Nothing here runs unless one is set.

`registry.py` is the table of providers, `keys.py` finds their keys, `client.py` is the one HTTP client for all of them,
`breaker.py` keeps a dead server from costing a timeout with each call.
"""
