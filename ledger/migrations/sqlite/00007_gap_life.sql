-- +goose Up
-- Whose task a gap is, and until when.
ALTER TABLE gaps ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE gaps ADD COLUMN due_on TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE gaps DROP COLUMN owner;
ALTER TABLE gaps DROP COLUMN due_on;
