"""Search: find memories, messages, passages of files and records that answer a question, and explain each hit.

`search.py` is the entry: it makes queries, answers and logs them. `pipeline.py` takes one question through these steps:

1. Parse. `time_query.py` reads its times, `speakers.py` and `question.py` the person it is about, `spelling.py` its
   misspelt words.
2. Retrieve. `retrievers.py` runs keyword search and vector search inside one scope, in memory or in the database.
3. Score. `signals.py` scores matches by all signals. `fuse.py` is the simple alternative, by the two searches alone.
4. Order. `order_matches.py` weighs and orders the scores; `times.py` and `time_match.py` lift matches whose times fit.
5. Load and filter. `candidates.py` loads the texts; `evidence.py` and `relevance.py` say how likely each answers;
   `thresholds.py` drops those below the bar; `copies.py` folds messages that say the same.
6. If nothing was found, `substring.py` looks for the question as it stands.
7. `outdated.py` and `newer_first.py` mark hits that a newer memory replaced, and place the newer one above.

`reranking.py` goes around the pipeline: a reranker, if one is set, orders the first hits again.
"""
