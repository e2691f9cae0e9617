-- Keyword search and vector search, alone and together in one round trip.

-- fragment: match_columns
t.owner, t.owner_type, t.valid_from, t.confidence, t.importance

-- fragment: is_asked
p.term IN {each:terms}

-- fragment: is_rare
p.term IN (SELECT term FROM asked)

-- fragment: term_weights
-- `asked` has the terms of the question.
-- The weight of each term in each namespace, by the formula, the constants and the field weights of `index/terms.py`:
-- k1 = 1.2, b = 0.75, so k1 + 1 = 2.2, k1 * (1 - b) = 0.3, k1 * b = 0.9. A namespace has its own numbers of rows and of
-- tokens (from the statistics) and of rows with the term (counted here, which takes a third of the time).
term_weights AS MATERIALIZED (
  SELECT h.namespace, h.term, 0.9 * f.rows / greatest(f.tokens, 1) AS shortness,
         2.2 * w.times * greatest(ln((greatest(f.rows - h.having, 0) + 0.5) / (h.having + 0.5)), 1e-6) AS weight
  FROM (
    SELECT p.namespace, p.term, (count(*) FILTER (WHERE p.active))::float8 AS having FROM postings p
    WHERE p.namespace IN {each:namespaces} AND {rows} GROUP BY p.namespace, p.term
  ) h
  JOIN asked w ON w.term = h.term
  JOIN (
    SELECT namespace, greatest(sum(rows), 1)::float8 AS rows, sum(tokens)::float8 AS tokens FROM statistics
    WHERE namespace IN {each:namespaces} GROUP BY namespace
  ) f ON f.namespace = h.namespace
)

-- fragment: text_matches
-- Scores are sorted before rows are read, so that only the best rows are.
SELECT t.n, s.score, {match_columns}, t.namespace FROM (
  SELECT p.chunk, sum(a.weight * p.frequency / (p.frequency + 0.3 + a.shortness * p.length)) AS score
  FROM term_weights a JOIN postings p ON p.namespace = a.namespace AND p.term = a.term
  WHERE p.namespace IN {each:namespaces} GROUP BY p.chunk ORDER BY score DESC
) s
JOIN chunks t ON t.n = s.chunk
WHERE t.namespace IN {each:namespaces}{filters}
ORDER BY s.score DESC, t.valid_from DESC, t.n DESC LIMIT :limit

-- fragment: best_of_all
-- Sort by distance before rows are read: nearly all of them are in the scope.
SELECT t.namespace, t.n, {match_columns} FROM (
  SELECT v.chunk, v.vector <#> :half::halfvec AS distance FROM vectors v
  WHERE v.namespace IN {each:namespaces} AND v.space = :space AND {is_scan_cheaper} ORDER BY distance
) d
JOIN chunks t ON t.n = d.chunk
WHERE t.namespace IN {each:namespaces}{filters} AND (:min_score::float8 IS NULL OR d.distance <= 0.001 - :min_score)
ORDER BY d.distance, t.valid_from DESC, t.n DESC LIMIT :depth

-- fragment: best_of_some
-- First the rows that the filters leave.
SELECT t.namespace, t.n, {match_columns} FROM chunks t
JOIN vectors v ON v.namespace = t.namespace AND v.space = :space AND v.chunk = t.n
WHERE t.namespace IN {each:namespaces} AND v.namespace IN {each:namespaces}{filters} AND {is_scan_cheaper}
  AND (:min_score::float8 IS NULL OR v.vector <#> :half::halfvec <= 0.001 - :min_score)
ORDER BY v.vector <#> :half::halfvec, t.valid_from DESC, t.n DESC LIMIT :depth

-- fragment: best_of_graph
-- `halfvec(0)` stands for the dimension of the space.
SELECT t.namespace, t.n, {match_columns} FROM vectors v JOIN chunks t ON t.namespace = v.namespace AND t.n = v.chunk
WHERE v.space = :space AND v.namespace IN {each:namespaces} AND t.namespace IN {each:namespaces}{filters} AND NOT {is_scan_cheaper}
ORDER BY v.vector::halfvec(0) <#> :half::halfvec(0) LIMIT :depth

-- fragment: is_scan_cheaper
-- Whether scanning all rows of the scope is cheaper than using the graph.
(:most::bigint IS NULL OR (SELECT rows FROM size) <= :most)

-- fragment: size_of_all
size AS MATERIALIZED (
  SELECT coalesce(sum(rows), 0) AS rows FROM statistics WHERE namespace IN {each:namespaces} AND :most::bigint IS NOT NULL
)

-- fragment: size_of_some
-- Counted up to :most + 1, where it is decided.
size AS MATERIALIZED (
  SELECT count(*) AS rows FROM (
    SELECT 1 FROM chunks t WHERE t.namespace IN {each:namespaces}{filters} LIMIT :most::bigint + 1
  ) counted WHERE :most::bigint IS NOT NULL
)

-- fragment: exact_scores
-- Scores with the question in full precision. The order was found with sixteen bits: a difference of up to 0.001.
SELECT f.n, f.score, f.owner, f.owner_type, f.valid_from, f.confidence, f.importance, f.namespace FROM (
  SELECT b.n, greatest(least(-(v.vector::vector <#> :full::vector), 1), -1) AS score, b.owner, b.owner_type,
         b.valid_from, b.confidence, b.importance, b.namespace
  FROM best b JOIN vectors v ON v.namespace = b.namespace AND v.space = :space AND v.chunk = b.n
  WHERE v.namespace IN {each:namespaces}
) f WHERE :min_score::float8 IS NULL OR f.score >= :min_score

-- fragment: scan_all
{size_of_all}, best AS MATERIALIZED ({best_of_all})

-- fragment: scan_some
{size_of_some}, best AS MATERIALIZED ({best_of_some})

-- fragment: scan_all_or_graph
{size_of_all}, best AS MATERIALIZED (({best_of_all}) UNION ALL ({best_of_graph}))

-- fragment: scan_some_or_graph
{size_of_some}, best AS MATERIALIZED (({best_of_some}) UNION ALL ({best_of_graph}))

-- fragment: both_searches
asked AS MATERIALIZED ({asked_terms}), {term_weights: is_asked}, words AS MATERIALIZED ({text_matches})
SELECT 0, words.* FROM words UNION ALL SELECT 1, found.* FROM ({exact_scores}) found UNION ALL
SELECT 2, w.n, greatest(least(-(v.vector::vector <#> :full::vector), 1), -1), w.owner, w.owner_type, w.valid_from,
  w.confidence, w.importance, w.namespace
FROM words w JOIN vectors v ON v.namespace = w.namespace AND v.space = :space AND v.chunk = w.n
WHERE v.namespace IN {each:namespaces}

-- fragment: asked_terms
-- The terms of the question, each as often as it is in it.
SELECT term, count(*)::float8 AS times FROM unnest(:terms::text[]) AS term GROUP BY term

-- fragment: rarest_terms
-- The terms of the rarest of the words, which are in at most :most rows together, at least those of one word. Word
-- number :words[i] has the term :terms[i]; a word of several terms is as rare as the rarest of them.
SELECT r.term, count(*)::float8 AS times FROM (
  SELECT w.term, sum(p.found) FILTER (WHERE w.is_first) OVER (ORDER BY p.rank) AS together, p.rank
  FROM (SELECT word, term, row_number() OVER (PARTITION BY word ORDER BY term) = 1 AS is_first
        FROM unnest(:words::bigint[], :terms::text[]) AS w (word, term)) w
  JOIN (
    SELECT c.word, min(c.found) AS found, row_number() OVER (ORDER BY min(c.found), c.word) AS rank FROM (
      SELECT w.word, (SELECT count(*) FROM (
        SELECT 1 FROM postings p WHERE p.namespace IN {each:namespaces} AND p.term = w.term LIMIT :most
      ) counted) AS found FROM unnest(:words::bigint[], :terms::text[]) AS w (word, term)
    ) c GROUP BY c.word HAVING min(c.found) > 0
  ) p ON p.word = w.word
) r WHERE r.rank = 1 OR (r.rank <= :most_words AND r.together <= :most) GROUP BY r.term

-- name: memories_like
-- The memories whose texts share the rarest of the words, best first.
WITH asked AS MATERIALIZED ({rarest_terms}), {term_weights: is_rare}, found AS MATERIALIZED ({text_matches})
SELECT {memory} FROM found f JOIN memories t ON t.namespace = f.namespace AND t.id = f.owner
WHERE t.namespace IN {each:namespaces} ORDER BY f.score DESC, f.valid_from DESC, f.n DESC

-- fragment: memories_near
SELECT {memory} FROM ({exact_scores}) f JOIN memories t ON t.namespace = f.namespace AND t.id = f.owner
WHERE t.namespace IN {each:namespaces} ORDER BY f.score DESC, f.valid_from DESC, f.n DESC LIMIT :limit

-- name: memories_near_some
WITH {scan_some} {memories_near}

-- name: memories_near_some_or_graph
WITH {scan_some_or_graph} {memories_near}

-- name: memories_near_all
WITH {scan_all} {memories_near}

-- name: memories_near_all_or_graph
WITH {scan_all_or_graph} {memories_near}

-- name: term_known
-- The terms that occur in a text of these namespaces.
SELECT w.term FROM unnest(:terms::text[]) AS w (term)
WHERE EXISTS (SELECT 1 FROM postings p WHERE p.namespace IN {each:namespaces} AND p.term = w.term)

-- name: term_rows
-- How many rows of these namespaces have each term, counted up to :most; no row for terms that no text has.
SELECT c.term, c.found FROM (
  SELECT w.term, (SELECT count(*) FROM (
    SELECT 1 FROM postings p WHERE p.namespace IN {each:namespaces} AND p.term = w.term LIMIT :most
  ) counted) AS found FROM unnest(:terms::text[]) AS w (term)
) c WHERE c.found > 0

-- name: text_search
WITH asked AS MATERIALIZED ({asked_terms}), {term_weights: is_asked} {text_matches}

-- name: vectors_all
WITH {scan_all} {exact_scores}

-- name: vectors_some
WITH {scan_some} {exact_scores}

-- name: vectors_all_or_graph
WITH {scan_all_or_graph} {exact_scores}

-- name: vectors_some_or_graph
WITH {scan_some_or_graph} {exact_scores}

-- name: both_all
WITH {scan_all}, {both_searches}

-- name: both_some
WITH {scan_some}, {both_searches}

-- name: both_all_or_graph
WITH {scan_all_or_graph}, {both_searches}

-- name: both_some_or_graph
WITH {scan_some_or_graph}, {both_searches}

-- name: space_find
SELECT id, dimension FROM spaces WHERE name = :space
