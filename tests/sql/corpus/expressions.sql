-- arithmetic
SELECT item_id, price * 2 + 1 AS a, price / 4 AS b, -price AS c, item_id % 3 AS d FROM Bid

-- texts
SELECT UPPER(title) AS u, LENGTH(title) AS n, title || '-' || LOWER(title) AS t, SUBSTRING(title, 2, 3) AS s, REPLACE(title, 'a', 'o') AS r FROM Auction

-- numbers
SELECT ROUND(price, 1) AS r, FLOOR(price) AS f, CEIL(price) AS c, ABS(price - 50) AS a, SQRT(price) AS s, POWER(price, 2) AS p FROM Bid
-- as
SELECT ROUND(price, 1), CAST(FLOOR(price) AS DOUBLE), CAST(CEIL(price) AS DOUBLE), ABS(price - 50), SQRT(price), POWER(price, 2) FROM Bid

-- nulls
SELECT item_id, COALESCE(reserve, -1) AS r, reserve IS NULL AS free, NULLIF(title, 'lamp') AS t FROM Auction

-- cases
SELECT item_id, CASE WHEN price > 80 THEN 'high' WHEN price > 30 THEN 'middle' ELSE 'low' END AS level,
CASE bidder WHEN 1 THEN 'one' WHEN 2 THEN 'two' END AS who FROM Bid

-- casts
SELECT CAST(price AS BIGINT) AS whole, CAST(item_id AS VARCHAR) AS text, CAST(bidder AS DOUBLE) AS d FROM Bid WHERE CAST(item_id AS DOUBLE) < 20
-- as
SELECT CAST(TRUNC(price) AS BIGINT), CAST(item_id AS VARCHAR), CAST(bidder AS DOUBLE) FROM Bid WHERE CAST(item_id AS DOUBLE) < 20

-- parts_of_times
SELECT order_id, EXTRACT(HOUR FROM ordered_at) AS h, MINUTE(ordered_at) AS m, DATE_TRUNC('hour', ordered_at) AS hour FROM Ordered

-- times_and_intervals
SELECT order_id, ordered_at + INTERVAL '90' MINUTE AS due, P.paid_at - O.ordered_at < INTERVAL '30' MINUTES AS quick FROM Ordered O JOIN Payment P USING (order_id)
-- as
SELECT order_id, ordered_at + INTERVAL 90 MINUTE, P.paid_at - O.ordered_at < INTERVAL 30 MINUTES FROM Ordered O JOIN Payment P USING (order_id)
WHERE near(epoch_us(O.ordered_at), hours(2), epoch_us(P.paid_at), hours(2))

-- greatest_and_least
SELECT A.item_id, GREATEST(B.price, A.reserve) AS hi, LEAST(B.price, 50) AS lo FROM Auction A, Bid B WHERE A.item_id = B.item_id

-- expressions_over_both_streams
SELECT A.item_id, B.price - A.reserve AS margin, (B.bid_at - A.opened_at) / 60000000 AS minutes FROM Auction A, Bid B WHERE A.item_id = B.item_id

-- decimals_are_rounded
SELECT item_id, CAST(price AS DECIMAL(10, 1)) AS d, CAST(CAST(price AS DECIMAL(10, 2)) AS DECIMAL(10, 0)) AS e,
CAST('2.25' AS DECIMAL(5, 1)) AS t, ROUND(CAST(99.95 AS DECIMAL(4, 2))) AS r,
CAST(item_id AS DECIMAL(10, 2)) / 4 AS q FROM Bid

-- numbers_beyond_integers
SELECT item_id, 9223372036854775808 AS a, -9223372036854775808 AS b, item_id < 99999999999999999999 AS c FROM Bid

-- dates_and_texts
SELECT order_id FROM Ordered WHERE DATE(ordered_at) >= '2020-09-13' AND DATE(ordered_at) IN ('2020-09-13', '2020-09-14')
-- as
SELECT order_id FROM Ordered WHERE CAST(ordered_at AS DATE) >= '2020-09-13' AND CAST(ordered_at AS DATE) IN ('2020-09-13', '2020-09-14')

-- quoted_names
SELECT "item_id" AS "Item", `price` AS "The Price" FROM Bid
-- as
SELECT item_id, price FROM Bid

-- truth
SELECT item_id, closed IS TRUE AS c, NOT closed AS open, price > 50 AND closed AS dear FROM Bid
