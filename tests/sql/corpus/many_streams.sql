-- three_streams_by_joins
SELECT A.ItemNum, A.Price AS a, B.Price AS b, C.Price AS c FROM Store1 A [RANGE 10 MINUTES] JOIN Store2 B [RANGE 10 MINUTES] ON A.ItemNum = B.ItemNum JOIN Store3 C [RANGE 10 MINUTES] ON B.ItemNum = C.ItemNum
-- as
SELECT A.ItemNum, A.Price, B.Price, C.Price FROM Store1 A, Store2 B, Store3 C
WHERE A.ItemNum=B.ItemNum AND B.ItemNum=C.ItemNum AND abs(A.sold_at - B.sold_at) <= minutes(10)
AND abs(B.sold_at - C.sold_at) <= minutes(10) AND abs(A.sold_at - C.sold_at) <= minutes(10)

-- three_streams_with_a_predicate
SELECT A.ItemNum FROM Store1 A, Store2 B, Store3 C WINDOW = 20 MINUTES
WHERE A.ItemNum = B.ItemNum AND A.ItemNum = C.ItemNum AND A.Price < B.Price AND C.Price > 3
-- as
SELECT A.ItemNum FROM Store1 A, Store2 B, Store3 C
WHERE A.ItemNum=B.ItemNum AND B.ItemNum=C.ItemNum AND abs(A.sold_at - B.sold_at) <= minutes(20)
AND abs(B.sold_at - C.sold_at) <= minutes(20) AND abs(A.sold_at - C.sold_at) <= minutes(20)
AND A.Price < B.Price AND C.Price > 3

-- groups_of_three_streams
SELECT A.ItemNum, COUNT(*) AS n, SUM(A.Price + B.Price + C.Price) AS total FROM Store1 A, Store2 B, Store3 C WINDOW = '20 min'
WHERE A.ItemNum = B.ItemNum AND A.ItemNum = C.ItemNum GROUP BY A.ItemNum
-- as
SELECT A.ItemNum, COUNT(*), SUM(A.Price + B.Price + C.Price) FROM Store1 A, Store2 B, Store3 C
WHERE A.ItemNum=B.ItemNum AND B.ItemNum=C.ItemNum AND abs(A.sold_at - B.sold_at) <= minutes(20)
AND abs(B.sold_at - C.sold_at) <= minutes(20) AND abs(A.sold_at - C.sold_at) <= minutes(20) GROUP BY A.ItemNum
