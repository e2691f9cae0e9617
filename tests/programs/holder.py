"""Holds an old state of a store until its standard input is closed; or only has it open.

Usage: holder.py DB hold|idle
"""

import sys

import apsw

connection = apsw.Connection(sys.argv[1])
if sys.argv[2] == "hold":
    connection.execute("BEGIN")
print("holding", connection.execute("SELECT count(*) FROM memories").fetchall()[0][0], flush=True)
sys.stdin.read()
