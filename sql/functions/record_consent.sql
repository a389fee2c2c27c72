-- Records that the person of an account accepts or declines a document. What the account said about the field before
-- stays in past_consents as evidence. Does nothing if it said the same.
--
-- Runs as the owner of the tables, so that a server cannot change or delete a consent. The caller has locked the account.

CREATE OR REPLACE FUNCTION record_consent(
    account uuid, field text, accepted boolean, version text, document bytea, locale text)
    RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    -- Later than now(), because the transaction may have waited for the lock while another one recorded a consent.
    moment timestamptz := clock_timestamp();
BEGIN
    IF EXISTS (
        SELECT FROM consents AS last
         WHERE last.account = record_consent.account AND last.field = record_consent.field
           AND last.accepted = record_consent.accepted AND last.version = record_consent.version
           AND last.document = record_consent.document)
    THEN
        RETURN;
    END IF;
    WITH ended AS (
        DELETE FROM consents AS last
         WHERE last.account = record_consent.account AND last.field = record_consent.field
        RETURNING last.*
    )
    INSERT INTO past_consents (account, field, accepted, version, document, locale, given_at, ended_at)
    SELECT ended.account, ended.field, ended.accepted, ended.version, ended.document, ended.locale, ended.given_at, moment
      FROM ended;
    INSERT INTO consents (account, field, accepted, version, document, locale, given_at)
    VALUES (record_consent.account, record_consent.field, record_consent.accepted, record_consent.version,
            record_consent.document, record_consent.locale, moment);
END
$$;
