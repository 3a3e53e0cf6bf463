-- +goose Up
-- That the book of a day has changed long after it: one row a transaction of ours that changed such a day (UTC), never changed itself. An
-- answer that was given before is out of date.
CREATE TABLE late (
    account TEXT NOT NULL,
    day     TEXT NOT NULL,
    id      TEXT NOT NULL,
    PRIMARY KEY (account, day, id)
) STRICT;

-- What the daily run of a date has answered, and to what (key). The same question again is answered from here.
CREATE TABLE answers (
    account TEXT NOT NULL,
    date    TEXT NOT NULL,
    key     TEXT NOT NULL,
    answer  TEXT NOT NULL,
    PRIMARY KEY (account, date)
) STRICT;

-- +goose Down
DROP TABLE answers;
DROP TABLE late;
