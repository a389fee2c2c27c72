-- Where people give up: how many came to a step and what became of them there. Nothing here tells who they were.

CREATE TABLE funnel_daily (
    day     date    NOT NULL,
    flow    text    NOT NULL,
    step    text    NOT NULL,
    outcome text    NOT NULL,
    -- Why an answer was refused; empty for every other outcome.
    code    text    NOT NULL DEFAULT '',
    -- How long a step took that was completed, rounded; zero for every other outcome.
    seconds integer NOT NULL DEFAULT 0,
    count   bigint  NOT NULL,
    PRIMARY KEY (day, flow, step, outcome, code, seconds)
);
