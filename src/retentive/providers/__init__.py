"""How are providers of models called over HTTP? Nothing here runs unless a provider is set.

`registry.py` is the table of providers, `keys.py` finds their keys, `client.py` is the one HTTP client for all of them,
`breaker.py` keeps a dead server from costing a timeout with each call.
"""
