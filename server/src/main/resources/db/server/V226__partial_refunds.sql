-- What was given back of a purchase, and the refund of a part that is in progress, as JSON: owned by
-- dev.lockstep.server.purchase. A part leaves its purchase completed; NULL: none was ever refunded.
ALTER TABLE lockstep_server.purchase ADD COLUMN given_back text;
