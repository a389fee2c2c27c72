-- Gives the roles that serve and operate exactly the privileges that they need on the tables of the service. Every
-- `accounts-api migrate` calls this.
--
-- Creates the two roles, as groups without login, if the caller may create roles. Roles belong to the whole cluster, so
-- another database may create them at the same moment. A role that does not exist gets nothing.

CREATE OR REPLACE FUNCTION grant_to_roles() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    role    text;
    wanted  record;
    routine regprocedure;
    grantee text;
BEGIN
    -- The locks under which servers create and drop partitions.
    PERFORM pg_advisory_xact_lock('drafts'::regclass::oid::bigint),
            pg_advisory_xact_lock('drafts'::regclass::oid::int, 1);
    FOREACH role IN ARRAY ARRAY['accounts_serve', 'accounts_operate'] LOOP
        IF to_regrole(role) IS NULL THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', role);
            EXCEPTION WHEN duplicate_object OR unique_violation OR insufficient_privilege THEN
                CONTINUE WHEN to_regrole(role) IS NULL;
            END;
        END IF;
        IF NOT has_schema_privilege(role, current_schema(), 'USAGE') THEN
            EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), role);
        END IF;
    END LOOP;

    -- FOR UPDATE needs UPDATE. A record of the audit gets its number, time and role from the database only.
    FOR wanted IN
        WITH every AS (
            SELECT * FROM (VALUES
                ('drafts',         'SELECT, INSERT, UPDATE, DELETE', 'SELECT, UPDATE, DELETE'),
                ('draft_photos',   'SELECT, INSERT, DELETE',         'SELECT, UPDATE, DELETE'),
                ('proofs',         'SELECT, INSERT, UPDATE, DELETE', 'SELECT, UPDATE, DELETE'),
                ('enrolments',     'SELECT, INSERT, UPDATE, DELETE', 'SELECT, DELETE'),
                ('leases',         'SELECT, INSERT, UPDATE, DELETE', 'SELECT, INSERT, UPDATE, DELETE'),
                ('handoffs',       'SELECT, INSERT, UPDATE, DELETE', 'SELECT, DELETE'),
                ('endings',        'SELECT, INSERT, UPDATE, DELETE', 'SELECT, INSERT'),
                ('accounts',       'SELECT, INSERT, UPDATE (authenticators_added, credentials_version, profile, signed_in_at)', 'SELECT, UPDATE (disabled_at, credentials_version)'),
                ('identifiers',    'SELECT, INSERT',                 'SELECT'),
                ('credentials',    'INSERT',                         'SELECT (account, kind, created_at)'),
                ('authenticators', 'SELECT, INSERT, UPDATE, DELETE', 'SELECT, UPDATE (sealed)'),
                ('recovery_codes', 'SELECT, INSERT, DELETE',         'SELECT'),
                ('sessions',       'SELECT, INSERT, UPDATE, DELETE', 'SELECT, UPDATE (sealed), DELETE'),
                ('sign_ins',       'SELECT, INSERT, UPDATE, DELETE', 'SELECT, UPDATE (sealed), DELETE'),
                ('grants',         'SELECT, INSERT, UPDATE, DELETE', 'SELECT, DELETE'),
                ('authorizations', 'SELECT, INSERT, UPDATE, DELETE', 'SELECT, DELETE'),
                ('pushed_requests', 'SELECT, INSERT, UPDATE, DELETE', 'SELECT, DELETE'),
                ('devices',        'SELECT, INSERT, UPDATE, DELETE', 'SELECT, DELETE'),
                ('address_changes', 'SELECT, INSERT, UPDATE, DELETE', 'SELECT, UPDATE (sealed), DELETE'),
                ('sign_in_failures', 'SELECT, INSERT, UPDATE, DELETE', 'SELECT, DELETE'),
                ('consents',       'SELECT, INSERT',                 'SELECT'),
                ('past_consents',  'SELECT',                         'SELECT'),
                ('photos',         'SELECT, INSERT',                         'SELECT'),
                ('outbox',         'SELECT, INSERT, UPDATE, DELETE', 'SELECT, INSERT, UPDATE, DELETE'),
                ('applications',   'SELECT, INSERT, UPDATE, DELETE', 'SELECT, UPDATE'),
                ('events',         'SELECT, UPDATE (xid), DELETE',   'SELECT'),
                ('event_sequences', NULL,                           'SELECT'),
                ('deliveries',     'SELECT, UPDATE, DELETE',         'SELECT, INSERT, UPDATE'),
                ('logouts',        'SELECT, UPDATE, DELETE',         'SELECT'),
                ('tickets',        'SELECT, INSERT, UPDATE, DELETE', 'SELECT, UPDATE (sealed), DELETE'),
                ('limits',         'SELECT, INSERT, UPDATE, DELETE', NULL),
                ('funnel_daily',   'SELECT, INSERT, UPDATE, DELETE', 'SELECT, INSERT, UPDATE'),
                ('signing_keys',   'SELECT, INSERT, UPDATE (sealed), DELETE', 'SELECT, INSERT, UPDATE, DELETE'),
                ('key_sentinel',   'SELECT, INSERT',                 'SELECT, UPDATE'),
                ('audit',          NULL,                             'SELECT, INSERT (operator, host, reason, act, subject)'),
                ('migrations',     'SELECT',                         'SELECT'),
                ('functions',      'SELECT',                         'SELECT')
            ) AS listed (name, serve, operate)
        ), present AS (
            SELECT to_regclass(name) AS relation, serve, operate FROM every WHERE to_regclass(name) IS NOT NULL
            -- Statements about a draft name its partition, so the roles need privileges on each partition, too.
            UNION ALL
            SELECT inhrelid::regclass, serve, operate FROM pg_inherits, every
             WHERE name = 'drafts' AND inhparent = to_regclass(name)
        )
        SELECT relation, pair.grantee, privileges
          FROM present, LATERAL (VALUES ('accounts_serve', serve), ('accounts_operate', operate))
               AS pair (grantee, privileges)
         WHERE to_regrole(pair.grantee) IS NOT NULL
    LOOP
        -- Both statements are in one transaction, so a role never lacks a privilege that the second one grants again.
        EXECUTE format('REVOKE ALL ON %s FROM %I', wanted.relation, wanted.grantee);
        IF wanted.privileges IS NOT NULL THEN
            EXECUTE format('GRANT %s ON %s TO %I', wanted.privileges, wanted.relation, wanted.grantee);
        END IF;
    END LOOP;

    -- Only functions that run as the owner of the tables may call write_event.
    REVOKE ALL ON FUNCTION write_event FROM PUBLIC;

    -- These functions run as the owner of the tables.
    FOR routine, grantee IN
        SELECT oid, user_of_it
          FROM pg_proc JOIN (VALUES
                   ('create_draft_partition', 'accounts_serve'), ('drop_past_draft_partitions', 'accounts_serve'),
                   ('undo_account', 'accounts_serve'), ('pepper_usage', 'accounts_operate'),
                   ('password_hash', 'accounts_serve'), ('has_password', 'accounts_serve'),
                   ('replace_password', 'accounts_serve'), ('erase_account', 'accounts_serve'), ('move_address', 'accounts_serve'),
                   ('restore_address', 'accounts_serve'), ('release_addresses', 'accounts_serve'),
                   ('replace_photo', 'accounts_serve'), ('record_consent', 'accounts_serve'),
                   ('rename_account', 'accounts_serve'), ('imported_kinds', 'accounts_serve'),
                   ('remove_authenticator', 'accounts_operate'), ('end_reused_authorization', 'accounts_serve'),
                   ('import_accounts', 'accounts_operate'), ('erase_account', 'accounts_operate'),
                   ('write_account_events', NULL), ('write_session_events', NULL), ('write_factor_events', NULL),
                   ('write_logout', NULL)
               ) AS listed (name, user_of_it) ON proname = name
         WHERE prosecdef AND pg_function_is_visible(oid)
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', routine);
        IF to_regrole(grantee) IS NULL THEN
            CONTINUE;
        ELSIF has_schema_privilege(grantee, current_schema(), 'CREATE') THEN
            RAISE WARNING 'revoke CREATE on the schema % from PUBLIC, then migrate again: % could replace what % calls',
                current_schema(), grantee, routine;
        ELSE
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', routine, grantee);
        END IF;
    END LOOP;
END
$$;
