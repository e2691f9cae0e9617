-- For how long a lease was taken, in microseconds: one that ends later than now plus its span is not believed. Those
-- that were taken before this column was there lasted 30 seconds.
ALTER TABLE leases ADD COLUMN span INTEGER NOT NULL DEFAULT 30000000;
