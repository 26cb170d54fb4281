-- selection_of_a_stream
SELECT A.item_id, B.price FROM Auction A, (SELECT * FROM Bid WHERE price > 50) B WHERE A.item_id = B.item_id

-- projection_of_a_stream
SELECT A.item_id, B.cents FROM Auction A, (SELECT item_id AS item, price * 100 AS cents FROM Bid) AS B WHERE A.item_id = B.item AND B.cents > 2000

-- window_of_a_query
SELECT A.title, B.price FROM (SELECT item_id, title FROM Auction WHERE title <> 'lamp') A [RANGE 12 HOURS], Bid B WHERE A.item_id = B.item_id
-- as
SELECT A.title, B.price FROM Auction A, Bid B
WHERE A.item_id = B.item_id AND A.title <> 'lamp' AND near(A.opened_at, hours(12), B.bid_at, forever())

-- join_by_a_computed_key
SELECT A.item_id, S.ItemName FROM (SELECT item_id, item_id % 12 AS num FROM Auction) A, Store1 S WHERE A.num = S.ItemNum
-- as
SELECT A.item_id, S.ItemName FROM Auction A, Store1 S WHERE A.item_id % 12 = S.ItemNum

-- join_of_a_join
SELECT AB.item_id, AB.price, P.name FROM (SELECT A.item_id, A.seller, B.price FROM Auction A, Bid B WHERE A.item_id = B.item_id) AB, Person P WHERE AB.seller = P.id
-- as
SELECT A.item_id, B.price, P.name FROM Auction A, Bid B, Person P WHERE A.item_id = B.item_id AND A.seller = P.id

-- groups_as_a_stream
SELECT A.item_id, A.title, G.n FROM (SELECT item_id, COUNT(*) AS n FROM Bid GROUP BY item_id) G, Auction A WHERE G.item_id = A.item_id

-- groups_of_groups
SELECT n, COUNT(*) AS auctions FROM (SELECT item_id, COUNT(*) AS n FROM Bid GROUP BY item_id) GROUP BY n

-- filter_of_groups
SELECT item_id, best FROM (SELECT item_id, MAX(price) AS best FROM Bid GROUP BY item_id) AS G WHERE best > 60

-- named_queries
WITH high AS (SELECT item_id, price FROM Bid WHERE price > 40), counted AS (SELECT item_id, COUNT(*) AS n FROM high GROUP BY item_id)
SELECT A.title, C.n FROM Auction A, counted C WHERE A.item_id = C.item_id

-- query_in_a_query
SELECT item_id FROM (SELECT item_id, price FROM (SELECT * FROM Bid WHERE closed) WHERE price < 70) q WHERE item_id > 5

-- named_query_keeps_the_window_of_its_stream
WITH large AS (SELECT order_id, amount FROM Ordered WHERE amount > 50)
SELECT O.order_id, O.amount, P.paid FROM large O, Payment P WHERE O.order_id = P.order_id
-- as
SELECT O.order_id, O.amount, P.paid FROM Ordered O, Payment P
WHERE O.order_id = P.order_id AND O.amount > 50 AND near(epoch_us(O.ordered_at), hours(2), epoch_us(P.paid_at), hours(2))

-- named_query_in_a_query
SELECT O.order_id, P.paid FROM (WITH large AS (SELECT * FROM Ordered WHERE amount > 50) SELECT order_id FROM large) O, Payment P
WHERE O.order_id = P.order_id
-- as
SELECT O.order_id, P.paid FROM Ordered O, Payment P
WHERE O.order_id = P.order_id AND O.amount > 50 AND near(epoch_us(O.ordered_at), hours(2), epoch_us(P.paid_at), hours(2))
