-- How many bids does each auction get within an hour of its opening, and which is the best?
--
--     punctuated run examples/auctions.sql
--
-- The data is generated. An auction opens once, and the last bid of an auction says so. By that the join knows which
-- auctions it can forget, and each count comes out as soon as it is final.

CREATE STREAM auctions (KEY item_id, TIME opened_at, PUNCTUATED BY UNIQUE)
FROM 'generator' OPTIONS (stream 'auctions', auctions 5000, seed 1, step '5 minutes');

CREATE STREAM bids (KEY item_id, TIME bid_at, PUNCTUATED BY WHEN closed)
FROM 'generator' OPTIONS (stream 'bids', auctions 5000, seed 1, step '5 minutes');

-- All counts go to a folder of Parquet files.
INSERT INTO 'parquet' OPTIONS (path '../out/auctions/counts', rejected '../out/auctions/rejected')
SELECT A.item_id, COUNT(*) AS bids, MAX(B.bid_price) AS best
FROM auctions A [RANGE 1 HOUR], bids B
WHERE A.item_id = B.item_id
GROUP BY A.item_id;

-- The most popular auctions are printed.
SELECT A.item_id, COUNT(*) AS bids, MIN(B.bid_price) AS first_bid, MAX(B.bid_price) AS best
FROM auctions A [RANGE 1 HOUR], bids B
WHERE A.item_id = B.item_id
GROUP BY A.item_id
HAVING COUNT(*) >= 530;
