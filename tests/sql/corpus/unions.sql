-- union_of_two_streams
SELECT symbol, price, quoted_at FROM Buy UNION ALL SELECT symbol, price, quoted_at FROM Sell

-- union_with_other_names
SELECT symbol AS what, price AS amount FROM Buy WHERE price > 100 UNION ALL SELECT symbol, volume FROM Sell

-- union_of_whole_streams
SELECT * FROM Store1 UNION ALL SELECT * FROM Store2 UNION ALL SELECT * FROM Store3

-- union_in_from
SELECT u.symbol, COUNT(*) AS n, SUM(u.price) AS total FROM (SELECT symbol, price FROM Buy UNION ALL SELECT symbol, price FROM Sell) u GROUP BY u.symbol

-- join_of_a_union
SELECT A.title, U.num FROM Auction A, (SELECT ItemNum AS num FROM Store1 UNION ALL SELECT ItemNum FROM Store2) U WHERE A.item_id = U.num

-- distinct
SELECT DISTINCT item_id, bidder FROM Bid

-- distinct_of_a_join
SELECT DISTINCT A.title FROM Auction A, Bid B WHERE A.item_id = B.item_id AND B.price > 90

-- distinct_in_from
SELECT item_id, COUNT(*) AS bidders FROM (SELECT DISTINCT item_id, bidder FROM Bid) GROUP BY item_id

-- distinct_groups
SELECT DISTINCT COUNT(*) AS n FROM Bid GROUP BY item_id

-- distinct_over_a_union
SELECT DISTINCT symbol FROM (SELECT symbol FROM Buy UNION ALL SELECT symbol FROM Sell)
