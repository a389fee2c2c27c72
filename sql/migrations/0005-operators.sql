-- Tables for operators: an audit of their commands, and a daily count of what becomes of steps.

-- Commands that change something or reveal sealed values.
CREATE TABLE audit (
    number   bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at       timestamptz NOT NULL DEFAULT now(),
    operator text        NOT NULL,
    act      text        NOT NULL,
    -- The draft, account or mail; null for a command that concerns all mail.
    subject  uuid
);

-- Where people give up: how many reached a step, and with which outcome. Nothing here identifies a person.
CREATE TABLE funnel_daily (
    day     date    NOT NULL,
    flow    text    NOT NULL,
    step    text    NOT NULL,
    outcome text    NOT NULL,
    -- Why an answer was refused; empty for every other outcome.
    code    text    NOT NULL DEFAULT '',
    -- How long a completed step took, rounded; zero for every other outcome.
    seconds integer NOT NULL DEFAULT 0,
    count   bigint  NOT NULL,
    PRIMARY KEY (day, flow, step, outcome, code, seconds)
);
