-- A stand-in for the functions of Citus. It records calls and refuses what Citus refuses; it distributes nothing, so it
-- is no cluster: rows stay where they are. The rules are those of the errors that a real cluster gave.
SET allow_system_table_mods = on;
INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
VALUES (99999999, 'citus', 10, 'public'::regnamespace, false, '13.0');
CREATE TABLE public.calls (n bigint GENERATED ALWAYS AS IDENTITY, call text NOT NULL);
CREATE TABLE public.pg_dist_partition (logicalrelid regclass, partmethod "char", repmodel "char");
CREATE TABLE public.pg_dist_shard (logicalrelid regclass, shardid bigint);
CREATE TABLE public.pg_dist_node (
  nodeid int, groupid int, nodename text, nodeport int, isactive boolean, shouldhaveshards boolean
);
INSERT INTO public.pg_dist_node VALUES
  (1, 0, 'coordinator', 5432, true, false), (2, 1, 'one', 5432, true, true), (3, 2, 'two', 5432, true, true);
CREATE FUNCTION public.citus_check_cluster_node_health()
  RETURNS TABLE (from_nodename text, from_nodeport int, to_nodename text, to_nodeport int, result boolean)
  LANGUAGE sql AS $$ SELECT 'coordinator', 5432, nodename, nodeport, isactive FROM public.pg_dist_node $$;

CREATE FUNCTION public.refuse_subqueries(place regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    SELECT FROM pg_policy p LEFT JOIN pg_inherits i ON i.inhrelid = p.polrelid
    WHERE place IN (p.polrelid, i.inhparent) AND (p.polqual::text LIKE '%SUBLINK%' OR p.polwithcheck::text LIKE '%SUBLINK%')
  ) THEN
    RAISE 'cannot create policy' USING DETAIL = 'Subqueries are not supported in policies on distributed tables';
  END IF;
END $$;

CREATE FUNCTION public.create_distributed_table(
  table_name regclass, distribution_column text, distribution_type text DEFAULT 'hash',
  colocate_with text DEFAULT 'default', shard_count int DEFAULT NULL
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  shards int := coalesce(shard_count, 32);
BEGIN
  PERFORM public.refuse_subqueries(table_name);
  IF EXISTS (SELECT FROM public.pg_dist_partition WHERE logicalrelid = table_name) THEN
    RAISE 'table "%" is already distributed', table_name;
  END IF;
  IF shard_count IS NOT NULL AND colocate_with NOT IN ('default', 'none') THEN
    RAISE 'Cannot use colocate_with with a table and shard_count at the same time';
  END IF;
  IF EXISTS (
    SELECT FROM pg_index i WHERE i.indrelid = table_name AND i.indisunique AND NOT EXISTS (
      SELECT FROM pg_attribute a WHERE a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey::int[]) AND a.attname = distribution_column
    )
  ) THEN
    RAISE 'cannot create constraint on "%"', table_name USING DETAIL = 'PRIMARY KEY constraints must include the column';
  END IF;
  IF colocate_with NOT IN ('default', 'none') THEN
    SELECT count(*) INTO STRICT shards FROM public.pg_dist_shard WHERE logicalrelid = colocate_with::regclass;
  END IF;
  INSERT INTO public.calls (call) VALUES (format('distribute %s by %s with %s', table_name, distribution_column, colocate_with));
  INSERT INTO public.pg_dist_partition VALUES (table_name, 'h', 's');
  INSERT INTO public.pg_dist_shard SELECT table_name, generate_series(1, shards);
END $$;

CREATE FUNCTION public.create_reference_table(table_name regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM public.refuse_subqueries(table_name);
  INSERT INTO public.calls (call) VALUES (format('copy %s', table_name));
  INSERT INTO public.pg_dist_partition VALUES (table_name, 'n', 't');
END $$;

CREATE FUNCTION public.undistribute_table(table_name regclass, cascade_via_foreign_keys boolean DEFAULT false)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM public.pg_dist_partition WHERE logicalrelid = table_name) THEN
    RAISE 'cannot undistribute table because the table is not distributed';
  END IF;
  IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = table_name AND attidentity <> '') THEN
    RAISE 'cannot complete operation on a table with identity column';
  END IF;
  INSERT INTO public.calls (call) VALUES (format('undistribute %s', table_name));
  DELETE FROM public.pg_dist_partition WHERE logicalrelid = table_name;
  DELETE FROM public.pg_dist_shard WHERE logicalrelid = table_name;
END $$;

-- On a real cluster a policy of a distributed table is checked when it is changed, too.
CREATE FUNCTION public.check_changed_policies() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM public.refuse_subqueries(logicalrelid) FROM public.pg_dist_partition;
END $$;
CREATE EVENT TRIGGER policies ON ddl_command_end WHEN TAG IN ('ALTER POLICY') EXECUTE FUNCTION public.check_changed_policies();
