-- Replaces the photo in one field of an account; NULL removes it.
--
-- Runs as the owner of the tables, so that a server needs no right to delete many photos at once.

CREATE OR REPLACE FUNCTION replace_photo(account uuid, field text, type text, image bytea)
    RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
    DELETE FROM photos WHERE photos.account = replace_photo.account AND photos.field = replace_photo.field;
    INSERT INTO photos (account, field, type, image)
    SELECT replace_photo.account, replace_photo.field, replace_photo.type, replace_photo.image
     WHERE replace_photo.image IS NOT NULL;
$$;
