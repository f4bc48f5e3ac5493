-- Functions and a catalog that look like those of Citus: they note what they are called with, and refuse what Citus refuses.

CREATE TABLE pg_dist_partition (logicalrelid regclass, partmethod "char", repmodel "char", colocated text);
CREATE TABLE fake_refusal (relation regclass, code text);
CREATE TABLE fake_truncated (relation regclass);
CREATE FUNCTION fake_refuse(name regclass) RETURNS void LANGUAGE plpgsql AS $$ DECLARE refused text; BEGIN
    SELECT code INTO refused FROM fake_refusal WHERE relation = name;
    IF refused IS NOT NULL THEN RAISE EXCEPTION 'refused' USING ERRCODE = refused; END IF;
    IF EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = name) THEN RAISE EXCEPTION 'twice'; END IF;
END $$;
CREATE FUNCTION create_distributed_table(table_name regclass, distribution_column text,
    distribution_type text DEFAULT 'hash', colocate_with text DEFAULT 'default', shard_count int DEFAULT NULL)
    RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    PERFORM fake_refuse(table_name);
    IF EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = table_name AND i.indisunique AND NOT EXISTS
        (SELECT 1 FROM pg_attribute a WHERE a.attrelid = table_name AND a.attname = distribution_column
         AND a.attnum = ANY(i.indkey))) THEN RAISE EXCEPTION 'a unique index without the column'; END IF;
    IF colocate_with NOT IN ('default', 'none') AND NOT EXISTS
        (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = colocate_with::regclass AND partmethod = 'h')
        THEN RAISE EXCEPTION 'not distributed'; END IF;
    INSERT INTO pg_dist_partition VALUES (table_name, 'h', 's', colocate_with);
END $$;
CREATE FUNCTION create_reference_table(table_name regclass) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    PERFORM fake_refuse(table_name);
    INSERT INTO pg_dist_partition VALUES (table_name, 'n', 't', NULL);
END $$;
CREATE FUNCTION truncate_local_data_after_distributing_table(function_oid regclass) RETURNS void LANGUAGE sql
    AS $$ INSERT INTO fake_truncated VALUES (function_oid) $$;
