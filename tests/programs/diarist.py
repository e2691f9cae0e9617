"""Keeps memories one by one, and has each written into the daily log.

Usage: diarist.py DB NAME COUNT
"""

import sys

from retentive import Retentive

with Retentive.open(sys.argv[1], embedder="none", daily_log="on") as store:
    for number in range(int(sys.argv[3])):
        store.add(f"diarist {sys.argv[2]} keeps item {number}")
