-- join_on
SELECT A.title, B.price FROM Auction A [RANGE 12 HOURS] JOIN Bid B ON A.item_id = B.item_id
-- as
SELECT A.title, B.price FROM Auction A JOIN Bid B
ON A.item_id = B.item_id AND near(A.opened_at, hours(12), B.bid_at, forever())

-- inner_join_using
SELECT item_id, title, price FROM Auction INNER JOIN Bid USING (item_id)

-- left_join
SELECT O.order_id, O.customer, P.paid FROM Ordered O LEFT JOIN Payment P ON O.order_id = P.order_id
-- as
SELECT O.order_id, O.customer, P.paid FROM Ordered O LEFT JOIN Payment P
ON O.order_id = P.order_id AND near(epoch_us(O.ordered_at), hours(2), epoch_us(P.paid_at), hours(2))

-- left_join_keys_of_both_sides
SELECT O.order_id, P.order_id AS paid_order FROM Ordered O LEFT OUTER JOIN Payment P ON O.order_id = P.order_id
-- as
SELECT O.order_id, P.order_id FROM Ordered O LEFT JOIN Payment P
ON O.order_id = P.order_id AND near(epoch_us(O.ordered_at), hours(2), epoch_us(P.paid_at), hours(2))

-- right_join
SELECT O.customer, P.order_id, P.method FROM Ordered O RIGHT JOIN Payment P ON O.order_id = P.order_id
-- as
SELECT O.customer, P.order_id, P.method FROM Ordered O RIGHT JOIN Payment P
ON O.order_id = P.order_id AND near(epoch_us(O.ordered_at), hours(2), epoch_us(P.paid_at), hours(2))

-- full_join
SELECT O.order_id, O.amount, P.order_id AS paid_order, P.paid FROM Ordered O FULL OUTER JOIN Payment P ON O.order_id = P.order_id
-- as
SELECT O.order_id, O.amount, P.order_id, P.paid FROM Ordered O FULL JOIN Payment P
ON O.order_id = P.order_id AND near(epoch_us(O.ordered_at), hours(2), epoch_us(P.paid_at), hours(2))

-- semi_join
SELECT O.order_id, O.amount FROM Ordered O LEFT SEMI JOIN Payment P ON O.order_id = P.order_id
-- as
SELECT O.order_id, O.amount FROM Ordered O SEMI JOIN Payment P
ON O.order_id = P.order_id AND near(epoch_us(O.ordered_at), hours(2), epoch_us(P.paid_at), hours(2))

-- anti_join
SELECT order_id, customer FROM Ordered O LEFT ANTI JOIN Payment P ON O.order_id = P.order_id
-- as
SELECT order_id, customer FROM Ordered O ANTI JOIN Payment P
ON O.order_id = P.order_id AND near(epoch_us(O.ordered_at), hours(2), epoch_us(P.paid_at), hours(2))

-- left_join_with_a_filter_of_the_right_stream
SELECT O.order_id, P.paid FROM Ordered O LEFT JOIN Payment P ON O.order_id = P.order_id AND P.paid > 200
-- as
SELECT O.order_id, P.paid FROM Ordered O LEFT JOIN Payment P
ON O.order_id = P.order_id AND P.paid > 200 AND near(epoch_us(O.ordered_at), hours(2), epoch_us(P.paid_at), hours(2))

-- left_join_with_a_filter_of_the_left_stream_in_on
SELECT O.order_id, P.paid FROM Ordered O LEFT JOIN Payment P ON O.order_id = P.order_id AND O.amount > 200
-- as
SELECT O.order_id, P.paid FROM Ordered O LEFT JOIN Payment P
ON O.order_id = P.order_id AND O.amount > 200 AND near(epoch_us(O.ordered_at), hours(2), epoch_us(P.paid_at), hours(2))

-- left_join_where_over_the_left_stream
SELECT O.order_id, P.paid FROM Ordered O LEFT JOIN Payment P ON O.order_id = P.order_id WHERE O.amount > 200
-- as
SELECT O.order_id, P.paid FROM Ordered O LEFT JOIN Payment P
ON O.order_id = P.order_id AND near(epoch_us(O.ordered_at), hours(2), epoch_us(P.paid_at), hours(2)) WHERE O.amount > 200

-- left_join_where_over_the_right_stream
SELECT O.order_id, O.customer FROM Ordered O LEFT JOIN Payment P ON O.order_id = P.order_id WHERE P.paid IS NULL
-- as
SELECT O.order_id, O.customer FROM Ordered O LEFT JOIN Payment P
ON O.order_id = P.order_id AND near(epoch_us(O.ordered_at), hours(2), epoch_us(P.paid_at), hours(2)) WHERE P.paid IS NULL

-- full_join_where
SELECT O.order_id, P.order_id AS paid_order FROM Ordered O FULL JOIN Payment P ON O.order_id = P.order_id WHERE O.amount > 300 OR P.order_id IS NULL
-- as
SELECT O.order_id, P.order_id FROM Ordered O FULL JOIN Payment P
ON O.order_id = P.order_id AND near(epoch_us(O.ordered_at), hours(2), epoch_us(P.paid_at), hours(2))
WHERE O.amount > 300 OR P.order_id IS NULL

-- anti_join_where
SELECT order_id FROM Ordered O LEFT ANTI JOIN Payment P ON O.order_id = P.order_id AND P.method = 'card' WHERE O.amount < 250
-- as
SELECT order_id FROM Ordered O ANTI JOIN Payment P ON O.order_id = P.order_id AND P.method = 'card'
AND near(epoch_us(O.ordered_at), hours(2), epoch_us(P.paid_at), hours(2)) WHERE O.amount < 250

-- self_join
SELECT a.item_id, a.price AS low, b.price AS high FROM Bid a [RANGE 2 HOURS], Bid b [RANGE 2 HOURS]
WHERE a.item_id = b.item_id AND a.price < b.price
-- as
SELECT a.item_id, a.price, b.price FROM Bid a, Bid b
WHERE a.item_id = b.item_id AND a.price < b.price AND near(a.bid_at, hours(2), b.bid_at, hours(2))

-- another_key_than_the_declared_one
SELECT A.item_id, P.name FROM Auction A, Person P WHERE A.seller = P.id

-- composite_key
SELECT b.symbol, b.quoted_at, s.quoted_at AS sold FROM Buy b [RANGE 1 HOUR], Sell s [RANGE 1 HOUR] WHERE b.symbol = s.symbol AND s.volume = b.volume
-- as
SELECT b.symbol, b.quoted_at, s.quoted_at FROM Buy b, Sell s
WHERE b.symbol = s.symbol AND s.volume = b.volume AND near(b.quoted_at, hours(1), s.quoted_at, hours(1))

-- star
SELECT * FROM Auction A, Bid B WHERE A.item_id = B.item_id
-- as
SELECT A.*, B.* EXCLUDE (item_id) FROM Auction A, Bid B WHERE A.item_id = B.item_id

-- star_of_one_stream
SELECT B.*, A.title FROM Auction A, Bid B WHERE A.item_id = B.item_id

-- keys_of_one_stream_and_each_other
SELECT A.item_id, B.price FROM Auction A, Bid B WHERE A.item_id = B.item_id AND A.seller = B.bidder

-- equality_of_expressions
SELECT A.item_id, S.ItemName FROM Auction A, Store1 S WHERE A.item_id % 12 = S.ItemNum + 1

-- equality_of_expressions_in_an_outer_join
SELECT A.item_id, S.ItemNum FROM Auction A LEFT JOIN Store1 S ON A.item_id - 5 = S.ItemNum AND S.Price < 4

-- equality_of_numbers_of_different_types
SELECT A.item_id, B.price FROM Auction A, Bid B WHERE A.item_id = B.item_id AND A.reserve * 2 = B.bidder * 4

-- constants_in_where
SELECT A.item_id, B.price FROM Auction A, Bid B WHERE 1 = 1 AND A.item_id = B.item_id AND TRUE
