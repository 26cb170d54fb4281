-- filters_of_both_streams
SELECT A.item_id, B.price FROM Auction A, Bid B WHERE A.item_id = B.item_id AND A.title = 'lamp' AND B.price >= 20

-- filter_on_a_nullable_column
SELECT A.item_id, A.reserve FROM Auction A, Bid B WHERE A.item_id = B.item_id AND A.reserve IS NOT NULL AND NOT A.reserve < 5

-- comparison_of_two_streams
SELECT A.item_id, B.price FROM Auction A [RANGE 12 HOURS], Bid B WHERE A.item_id = B.item_id AND B.price >= A.reserve
-- as
SELECT A.item_id, B.price FROM Auction A, Bid B WHERE A.item_id = B.item_id AND B.price >= A.reserve
AND near(A.opened_at, hours(12), B.bid_at, forever())

-- band_join
SELECT b.price, s.price AS ask FROM Buy b [RANGE 20 MINUTES], Sell s [RANGE 20 MINUTES] WHERE b.price BETWEEN s.price - 2 AND s.price + 2
-- as
SELECT b.price, s.price FROM Buy b, Sell s WHERE b.price BETWEEN s.price - 2 AND s.price + 2
AND near(b.quoted_at, minutes(20), s.quoted_at, minutes(20))

-- band_join_with_a_key
SELECT b.symbol, b.price, s.price AS ask FROM Buy b [RANGE 20 MINUTES], Sell s [RANGE 20 MINUTES]
WHERE b.symbol = s.symbol AND s.price BETWEEN b.price - 5 AND b.price + 5
-- as
SELECT b.symbol, b.price, s.price FROM Buy b, Sell s WHERE b.symbol = s.symbol
AND s.price BETWEEN b.price - 5 AND b.price + 5 AND near(b.quoted_at, minutes(20), s.quoted_at, minutes(20))

-- comparison_without_a_key
SELECT b.price, s.price AS ask FROM Buy b [RANGE 3 MINUTES] JOIN Sell s [RANGE 3 MINUTES] ON b.price >= s.price AND b.symbol <> s.symbol
-- as
SELECT b.price, s.price FROM Buy b JOIN Sell s ON b.price >= s.price AND b.symbol <> s.symbol
AND near(b.quoted_at, minutes(3), s.quoted_at, minutes(3))

-- or_of_both_streams
SELECT A.item_id, B.price FROM Auction A, Bid B WHERE (A.item_id = B.item_id) AND (B.price > 90 OR A.title LIKE 'v%')

-- list_and_pattern
SELECT B.item_id, B.bidder FROM Auction A, Bid B WHERE A.item_id = B.item_id AND B.bidder IN (1, 3, 5) AND A.title NOT LIKE '%a%'

-- difference_of_times
SELECT A.item_id FROM Auction A, Bid B WHERE A.item_id = B.item_id AND B.bid_at - A.opened_at < 3600000000

-- filter_by_time
SELECT O.order_id FROM Ordered O, Payment P WHERE O.order_id = P.order_id AND O.ordered_at > TIMESTAMP '2020-09-13 14:00:00'
-- as
SELECT O.order_id FROM Ordered O, Payment P
WHERE O.order_id = P.order_id AND O.ordered_at > TIMESTAMP '2020-09-13 14:00:00'
AND near(epoch_us(O.ordered_at), hours(2), epoch_us(P.paid_at), hours(2))

-- times_as_texts
SELECT order_id FROM Ordered WHERE ordered_at BETWEEN '2020-09-13 14:00:00' AND '2020-09-13 18:00:00' AND ordered_at <> TIMESTAMP '2020-09-13'

-- constant_of_a_join_without_a_key
SELECT 1 AS one FROM Auction A, Bid B WHERE NOT A.item_id = B.item_id
