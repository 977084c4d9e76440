-- Shows that a migrated database has been migrated; stands in for the library's own migrations.
CREATE TABLE lockstep.probe (id bigint PRIMARY KEY);
