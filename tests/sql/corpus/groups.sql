-- count_and_best
SELECT A.item_id, COUNT(*) AS n, MAX(B.price) AS best FROM Auction A [RANGE 12 HOURS], Bid B WHERE A.item_id = B.item_id GROUP BY A.item_id
-- as
SELECT A.item_id, COUNT(*), MAX(B.price) FROM Auction A, Bid B
WHERE A.item_id = B.item_id AND near(A.opened_at, hours(12), B.bid_at, forever()) GROUP BY A.item_id

-- all_aggregates
SELECT item_id, COUNT(*) AS n, COUNT(bidder) AS m, SUM(bidder) AS total, MIN(price) AS low, MAX(price) AS high, AVG(bidder) AS middle FROM Bid GROUP BY item_id

-- one_aggregate_by_several_names
SELECT item_id, AVG(price) AS a, MEAN(price) AS b, STDDEV(price) AS c, STDDEV_SAMP(price) AS d, VARIANCE(price) AS e, VAR_SAMP(price) AS f FROM Bid GROUP BY item_id

-- first_and_last
SELECT item_id, FIRST(price) AS opening, LAST(price) AS closing FROM Bid GROUP BY item_id
-- as
SELECT item_id, FIRST(price ORDER BY bid_at, item_id, price), LAST(price ORDER BY bid_at, item_id, price) FROM Bid GROUP BY item_id

-- having
SELECT item_id, COUNT(*) AS n FROM Bid GROUP BY item_id HAVING COUNT(*) > 2

-- having_another_aggregate
SELECT item_id FROM Bid GROUP BY item_id HAVING MAX(price) > 50 AND MIN(price) < 40

-- expressions_of_aggregates
SELECT item_id, MAX(price) - MIN(price) AS spread, SUM(price) / COUNT(*) AS mean, COUNT(*) * 10 AS tens FROM Bid GROUP BY item_id

-- aggregates_of_expressions
SELECT A.item_id, MAX(B.price - A.reserve) AS margin, SUM(CASE WHEN B.price > 50 THEN 1 ELSE 0 END) AS high
FROM Auction A, Bid B WHERE A.item_id = B.item_id GROUP BY A.item_id

-- group_by_two_columns
SELECT item_id, bidder, COUNT(*) AS n FROM Bid GROUP BY item_id, bidder

-- group_by_an_expression
SELECT item_id % 2 AS odd, COUNT(*) AS n FROM Bid GROUP BY item_id % 2

-- group_by_an_alias
SELECT UPPER(title) AS what, COUNT(*) AS n FROM Auction GROUP BY what

-- group_by_a_number
SELECT title, item_id % 2 AS odd, MIN(item_id) AS least FROM Auction GROUP BY 1, 2

-- group_of_another_column
SELECT A.title, COUNT(*) AS n, AVG(B.bidder) AS m FROM Auction A, Bid B WHERE A.item_id = B.item_id GROUP BY A.title

-- renamed_key
SELECT A.item_id AS auction, COUNT(*) AS bids FROM Auction A, Bid B WHERE A.item_id = B.item_id GROUP BY A.item_id

-- one_group_of_all
SELECT COUNT(*) AS n, MIN(price) AS low FROM Bid

-- groups_of_an_outer_join
SELECT O.customer, COUNT(P.paid) AS paid, COUNT(*) AS ordered FROM Ordered O LEFT JOIN Payment P ON O.order_id = P.order_id GROUP BY O.customer
-- as
SELECT O.customer, COUNT(P.paid), COUNT(*) FROM Ordered O LEFT JOIN Payment P
ON O.order_id = P.order_id AND near(epoch_us(O.ordered_at), hours(2), epoch_us(P.paid_at), hours(2)) GROUP BY O.customer

-- having_an_alias
SELECT title AS what, COUNT(*) AS n FROM Auction GROUP BY what HAVING what <> 'lamp' AND n > 5

-- count_of_a_union
SELECT COUNT(*) AS n FROM (SELECT price FROM Bid UNION ALL SELECT price FROM Bid)

-- count_of_distinct_rows
SELECT COUNT(*) AS n FROM (SELECT DISTINCT bidder FROM Bid)

-- count_of_a_join_without_a_key
SELECT COUNT(*) AS n FROM Auction A, Bid B WHERE A.reserve < B.price

-- group_by_a_list
SELECT item_id, COUNT(*) AS n FROM Bid GROUP BY (item_id, bidder)
