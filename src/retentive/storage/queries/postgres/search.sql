-- The two legs of a search, alone and together in one round trip.

-- fragment: match
t.owner, t.owner_type, t.valid_from, t.confidence, t.importance

-- fragment: text_leg
-- BM25 with the formula, the constants and the field weights of `index/terms.py`: k1 = 1.2, b = 0.75, so
-- k1 + 1 = 2.2, k1 * (1 - b) = 0.3, k1 * b = 0.9. Each namespace has its own numbers of rows and tokens (from the
-- statistics) and of rows with the term (counted here, which costs half of what reading them for their scores does).
SELECT t.n, s.score, {match} FROM (
  SELECT p.namespace, p.chunk, sum(a.weight * p.frequency / (p.frequency + 0.3 + 0.9 * p.length / a.average)) AS score
  FROM (
    SELECT h.namespace, h.term, greatest(f.tokens / f.rows, 1) AS average,
           2.2 * w.times * greatest(ln((greatest(f.rows - h.having, 0) + 0.5) / (h.having + 0.5)), 1e-6) AS weight
    FROM (
      SELECT p.namespace, p.term, (count(*) FILTER (WHERE p.active))::float8 AS having FROM postings p
      WHERE p.namespace IN {each:namespaces} AND p.term IN {each:terms} GROUP BY p.namespace, p.term
    ) h
    JOIN (SELECT term, count(*) AS times FROM unnest(:terms::text[]) AS term GROUP BY term) w ON w.term = h.term
    JOIN (
      SELECT namespace, greatest(sum(rows), 1)::float8 AS rows, sum(tokens)::float8 AS tokens FROM statistics
      WHERE namespace IN {each:namespaces} GROUP BY namespace
    ) f ON f.namespace = h.namespace
    OFFSET 0
  ) a
  JOIN postings p ON p.namespace = a.namespace AND p.term = a.term
  GROUP BY p.namespace, p.chunk
) s
JOIN chunks t ON t.namespace = s.namespace AND t.n = s.chunk
WHERE t.namespace IN {each:namespaces}{filters}
ORDER BY s.score DESC, t.valid_from DESC, t.n DESC LIMIT :limit

-- fragment: scored
-- Ordered by sixteen-bit arithmetic, the score is that of the full question: the two differ by less than 0.001.
SELECT f.n, f.score, f.owner, f.owner_type, f.valid_from, f.confidence, f.importance FROM (
  SELECT n.n, greatest(least(-(n.vector::vector <#> :full::vector), 1), -1) AS score, n.owner, n.owner_type,
         n.valid_from, n.confidence, n.importance FROM near n
) f WHERE :floor::float8 IS NULL OR f.score >= :floor

-- fragment: exact
SELECT t.n, v.vector, {match} FROM chunks t
JOIN vectors v ON v.namespace = t.namespace AND v.space = :space AND v.chunk = t.n
WHERE t.namespace IN {each:namespaces}{filters}
  AND (:floor::float8 IS NULL OR v.vector <#> :half::halfvec <= 0.001 - :floor)

-- fragment: near_exact
near AS MATERIALIZED (
  {exact} ORDER BY v.vector <#> :half::halfvec, t.valid_from DESC, t.n DESC LIMIT :depth
)

-- fragment: near_graph
-- Exactly where few rows may be seen, by the graph where many may. How many is counted, up to that bound, where filters
-- are set, and known from the statistics where not. `halfvec(0)` stands for the dimension of the space.
some AS MATERIALIZED (
  SELECT 1 FROM chunks t WHERE t.namespace IN {each:namespaces}{filters}
  LIMIT CASE WHEN :filtered::boolean THEN :most::bigint + 1 ELSE 0 END
), size AS MATERIALIZED (
  SELECT CASE WHEN :filtered::boolean THEN (SELECT count(*) FROM some)
         ELSE (SELECT coalesce(sum(rows), 0) FROM statistics WHERE namespace IN {each:namespaces}) END AS rows
), near AS MATERIALIZED (
  (
    {exact} AND (SELECT rows FROM size) <= :most
    ORDER BY v.vector <#> :half::halfvec, t.valid_from DESC, t.n DESC LIMIT :depth
  ) UNION ALL (
    SELECT t.n, v.vector, {match} FROM vectors v JOIN chunks t ON t.namespace = v.namespace AND t.n = v.chunk
    WHERE v.space = :space AND v.namespace IN {each:namespaces}{filters} AND (SELECT rows FROM size) > :most
    ORDER BY v.vector::halfvec(0) <#> :half::halfvec(0) LIMIT :depth
  )
)

-- name: text_search
{text_leg}

-- name: vector_search
WITH {near_exact} {scored}

-- name: vector_search_graph
WITH {near_graph} {scored}

-- fragment: both
words AS MATERIALIZED ({text_leg})
SELECT 0, words.* FROM words UNION ALL SELECT 1, found.* FROM ({scored}) found

-- name: both_search
WITH {near_exact}, {both}

-- name: both_search_graph
WITH {near_graph}, {both}

-- name: space_find
SELECT id, dimension FROM spaces WHERE name = :space
