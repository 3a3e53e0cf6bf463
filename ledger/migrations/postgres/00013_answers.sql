-- +goose Up
-- That the book of a day has changed long after it: one row a transaction of ours that changed such a day (UTC), never changed itself. An
-- answer that was given before is out of date.
CREATE TABLE late (
    account text NOT NULL,
    day     text NOT NULL,
    id      text NOT NULL,
    PRIMARY KEY (account, day, id)
);

-- What the daily run of a date has answered, and to what (key). The same question again is answered from here.
CREATE TABLE answers (
    account text NOT NULL,
    date    text NOT NULL,
    key     text NOT NULL,
    answer  text NOT NULL,
    PRIMARY KEY (account, date)
);

-- +goose Down
DROP TABLE answers, late;
