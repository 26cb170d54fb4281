-- range_on_one_stream
SELECT A.item_id, B.price FROM Auction A [RANGE 12 HOURS], Bid B WHERE A.item_id = B.item_id
-- as
SELECT A.item_id, B.price FROM Auction A, Bid B
WHERE A.item_id = B.item_id AND near(A.opened_at, hours(12), B.bid_at, forever())

-- range_on_both_streams
SELECT b.symbol, b.price AS bid, s.price AS ask FROM Buy b [RANGE 10 MINUTES], Sell s [RANGE 5 MINUTES] WHERE b.symbol = s.symbol
-- as
SELECT b.symbol, b.price, s.price FROM Buy b, Sell s
WHERE b.symbol = s.symbol AND near(b.quoted_at, minutes(10), s.quoted_at, minutes(5))

-- window_before_the_alias
SELECT b.symbol, b.quoted_at, s.quoted_at AS sold FROM Buy [RANGE 10 MINUTES] AS b, Sell [RANGE '300 s'] AS s WHERE b.symbol = s.symbol
-- as
SELECT b.symbol, b.quoted_at, s.quoted_at FROM Buy b, Sell s
WHERE b.symbol = s.symbol AND near(b.quoted_at, minutes(10), s.quoted_at, minutes(5))

-- compound_length
SELECT A.item_id, B.bid_at FROM Auction A [RANGE 1 HOUR 30 MINUTES], Bid B WHERE A.item_id = B.item_id
-- as
SELECT A.item_id, B.bid_at FROM Auction A, Bid B
WHERE A.item_id = B.item_id AND near(A.opened_at, minutes(90), B.bid_at, forever())

-- interval_as_in_sql
SELECT A.item_id, B.bid_at FROM Auction A [RANGE INTERVAL '6' HOUR], Bid B [RANGE INTERVAL 6 HOURS] WHERE A.item_id = B.item_id
-- as
SELECT A.item_id, B.bid_at FROM Auction A, Bid B
WHERE A.item_id = B.item_id AND near(A.opened_at, hours(6), B.bid_at, hours(6))

-- length_in_microseconds
SELECT b.quoted_at, s.quoted_at AS sold FROM Buy b [RANGE 60000000], Sell s [RANGE 0] WHERE b.symbol = s.symbol
-- as
SELECT b.quoted_at, s.quoted_at FROM Buy b, Sell s WHERE b.symbol = s.symbol AND near(b.quoted_at, minutes(1), s.quoted_at, 0)

-- now
SELECT A.ObjID, A.seen_at FROM Camera1 A [NOW], Camera2 B [NOW] WHERE A.ObjID = B.ObjID
-- as
SELECT A.ObjID, A.seen_at FROM Camera1 A, Camera2 B WHERE A.ObjID = B.ObjID AND A.seen_at = B.seen_at

-- unbounded_in_place_of_the_declared_window
SELECT O.order_id, P.paid FROM Ordered O [UNBOUNDED], Payment P [RANGE UNBOUNDED] WHERE O.order_id = P.order_id
-- as
SELECT O.order_id, P.paid FROM Ordered O, Payment P WHERE O.order_id = P.order_id

-- declared_window_is_kept
SELECT O.order_id, P.paid FROM Ordered O, Payment P WHERE O.order_id = P.order_id
-- as
SELECT O.order_id, P.paid FROM Ordered O, Payment P
WHERE O.order_id = P.order_id AND near(epoch_us(O.ordered_at), hours(2), epoch_us(P.paid_at), hours(2))

-- until_a_column
SELECT A.item_id, B.price FROM Auction A [UNTIL expires], Bid B [RANGE 1 HOUR] WHERE A.item_id = B.item_id
-- as
SELECT A.item_id, B.price FROM Auction A, Bid B
WHERE A.item_id = B.item_id AND near(A.opened_at, A.expires - A.opened_at, B.bid_at, hours(1))

-- offset_window
SELECT A.item_id, B.price FROM Auction A [RANGE BETWEEN 1 HOUR AND 4 HOURS], Bid B [NOW] WHERE A.item_id = B.item_id
-- as
SELECT A.item_id, B.price FROM Auction A, Bid B
WHERE A.item_id = B.item_id AND (B.bid_at - A.opened_at BETWEEN hours(1) AND hours(4))

-- last_rows_of_each_key
SELECT A.item_id, B.price FROM Auction A [RANGE 30 HOURS], Bid B [ROWS 1 PARTITION BY item_id] WHERE A.item_id = B.item_id
-- as
SELECT A.item_id, B.price FROM Auction A, Bid B
WHERE A.item_id = B.item_id AND near(A.opened_at, hours(30), B.bid_at, 0)

-- a_single_window_for_two_streams
SELECT b.symbol, b.quoted_at, s.quoted_at AS sold FROM Buy b, Sell s WINDOW = 7 MINUTES WHERE b.symbol = s.symbol
-- as
SELECT b.symbol, b.quoted_at, s.quoted_at FROM Buy b, Sell s WHERE b.symbol = s.symbol AND abs(b.quoted_at - s.quoted_at) <= minutes(7)

-- a_directed_window_for_two_streams
SELECT b.symbol, b.quoted_at, s.quoted_at AS sold FROM Buy b, Sell s DWINDOW (s, b) = 7 MINUTES WHERE b.symbol = s.symbol
-- as
SELECT b.symbol, b.quoted_at, s.quoted_at FROM Buy b, Sell s WHERE b.symbol = s.symbol AND b.quoted_at - s.quoted_at BETWEEN 0 AND minutes(7)

-- left_join_in_one_direction
SELECT A.item_id, B.price FROM Auction A [RANGE 3 HOURS] LEFT JOIN Bid B [NOW] ON A.item_id = B.item_id
-- as
SELECT A.item_id, B.price FROM Auction A LEFT JOIN Bid B ON A.item_id = B.item_id AND B.bid_at - A.opened_at BETWEEN 0 AND hours(3)

-- anti_join_by_a_window_between_streams
SELECT A.item_id FROM Auction A LEFT ANTI JOIN Bid B ON A.item_id = B.item_id WINDOW = 3 HOURS
-- as
SELECT A.item_id FROM Auction A ANTI JOIN Bid B ON A.item_id = B.item_id AND ABS(B.bid_at - A.opened_at) <= hours(3)
