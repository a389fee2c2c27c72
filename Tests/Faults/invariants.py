"""The invariants that hold after every fault. Each query finds violations of one of them."""

QUERIES = {
    "an address with two accounts": "SELECT email FROM accounts GROUP BY email HAVING count(*) > 1",
    "a name with two accounts": "SELECT username FROM accounts GROUP BY username HAVING count(*) > 1",
    "an account without its identifiers": """
        SELECT id FROM accounts
         WHERE ARRAY['email ' || email, 'username ' || username] IS DISTINCT FROM
               (SELECT array_agg(kind || ' ' || value ORDER BY kind) FROM identifiers WHERE account = accounts.id)""",
    "an account without a proved address": "SELECT id FROM accounts WHERE email_proved_at IS NULL OR email IS NULL",
    "an account without one password": """
        SELECT id FROM accounts WHERE 1 <> (SELECT count(*) FROM credentials WHERE account = accounts.id)""",
    "a password hash below the floor": r"""
        SELECT account FROM credentials WHERE secret !~ '^\$argon2id\$v=19\$m=19456,t=2,p=1[,$]'""",
    "an account without accepted terms": """
        SELECT id FROM accounts WHERE NOT EXISTS
               (SELECT FROM consents WHERE account = accounts.id AND field = 'terms' AND accepted)""",
    "an account without its draft": """
        SELECT id FROM accounts WHERE 1 <> (SELECT count(*) FROM drafts WHERE account_id = accounts.id)""",
    "an acknowledged photo that is missing": """
        SELECT email FROM accounts WHERE substring(email FROM '[0-9]+')::int % 5 = 0
           AND NOT EXISTS (SELECT FROM photos WHERE account = accounts.id)""",
    "a committed draft with values or without its account": """
        SELECT id FROM drafts WHERE account_id IS NOT NULL
           AND (sealed <> '' OR email_digest IS NOT NULL OR account_id NOT IN (SELECT id FROM accounts))""",
    "a proof or lease without an open draft": """
        SELECT draft FROM (SELECT draft FROM proofs UNION ALL SELECT draft FROM leases) AS held
         WHERE draft NOT IN (SELECT id FROM drafts WHERE account_id IS NULL)""",
    "an ended draft that still exists": "SELECT 1 FROM endings WHERE token_hash IN (SELECT token_hash FROM drafts)",
    "more guesses than allowed": "SELECT draft FROM proofs WHERE attempts > 5 OR failures NOT BETWEEN 0 AND 25",
    "mail that was not delivered": """
        SELECT template, state, attempts, due_at - now(), useless_after - now(), last_error FROM outbox
         WHERE state <> 'delivered'""",
    "more or fewer mails about created accounts than accounts": """
        SELECT 1 WHERE (SELECT count(*) FROM accounts)
                    <> (SELECT count(*) FROM outbox WHERE template = 'account-created')""",
}


def violations(service, crowd):
    found = [f"{what}: {rows}" for what, query in QUERIES.items() if (rows := service.query(query))]
    stored = dict(row.split("|") for row in service.query("SELECT email, id FROM accounts"))
    for address, account in crowd.accounts.items():
        if stored.get(address) != account:
            found.append(f"the account of {address} was acknowledged as {account} and is {stored.get(address)}")
    people = {person.address for person in crowd.people} | crowd.strangers
    for address in {address for mail in service.mailbox.mails for address in mail.get("to", [])} - people:
        found.append(f"a mail to {address}, who did not sign up")
    for mail in service.mailbox.mails:
        if mail.get("subject", "").startswith("Welcome") and not set(mail["to"]) <= set(stored):
            found.append(f"a mail about an account to {mail['to']}, who has none")
    return found
