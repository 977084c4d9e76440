-- An event mostly tells what its request was answered, and that is kept already: its body then ends before the object.
-- These rows come and go with every payment, so that each byte of them is written, deleted and vacuumed.
ALTER TABLE gateway.webhook ADD COLUMN answer text COLLATE "C";
