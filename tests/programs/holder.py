"""Holds an old state of a store until its standard input is closed.

Usage: holder.py DB
"""

import sys

import apsw

connection = apsw.Connection(sys.argv[1])
connection.execute("BEGIN")
print("holding", connection.execute("SELECT count(*) FROM memories").fetchall()[0][0], flush=True)
sys.stdin.read()
