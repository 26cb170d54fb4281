-- pwjoin_figure_1
SELECT A.item_id, COUNT(*)
FROM Auction A [RANGE 12 HOURS], Bid B
WHERE A.item_id = B.item_id
GROUP BY A.item_id
-- as
SELECT A.item_id, COUNT(*) FROM Auction A, Bid B
WHERE A.item_id = B.item_id AND near(A.opened_at, hours(12), B.bid_at, forever())
GROUP BY A.item_id

-- wjoin_form_1
SELECT A.ItemName
FROM Store1 A, Store2 B, Store3 C
WINDOW = w
WHERE A.ItemNum=B.ItemNum AND B.ItemNum=C.ItemNum
-- as
SELECT A.ItemName FROM Store1 A, Store2 B, Store3 C
WHERE A.ItemNum=B.ItemNum AND B.ItemNum=C.ItemNum AND abs(A.sold_at - B.sold_at) <= minutes(20)
AND abs(B.sold_at - C.sold_at) <= minutes(20) AND abs(A.sold_at - C.sold_at) <= minutes(20)

-- wjoin_form_2
SELECT A.ObjID
FROM Camera1 A, Camera2 B, Camera3 C
WINDOW (A,B)=w1 AND WINDOW (B,C)=w2 AND WINDOW (A,C)=w3
WHERE A.ObjID=B.ObjID AND B.ObjID=C.ObjID
-- as
SELECT A.ObjID FROM Camera1 A, Camera2 B, Camera3 C
WHERE A.ObjID=B.ObjID AND B.ObjID=C.ObjID AND abs(A.seen_at - B.seen_at) <= minutes(10)
AND abs(B.seen_at - C.seen_at) <= minutes(20) AND abs(A.seen_at - C.seen_at) <= minutes(15)

-- wjoin_form_3
SELECT A.ObjID
FROM Camera1 A, Camera2 B, Camera3 C
WINDOW (A,B)=w1 AND WINDOW (B,C)=w2
WHERE A.ObjID=B.ObjID AND B.ObjID=C.ObjID
-- as
SELECT A.ObjID FROM Camera1 A, Camera2 B, Camera3 C
WHERE A.ObjID=B.ObjID AND B.ObjID=C.ObjID AND abs(A.seen_at - B.seen_at) <= minutes(10)
AND abs(B.seen_at - C.seen_at) <= minutes(20)

-- wjoin_path
SELECT A.ObjID, A.seen_at AS first_seen, C.seen_at AS last_seen
FROM Camera1 A, Camera2 B, Camera3 C
DWINDOW (A,B)=w1 AND DWINDOW (B,C)=w2
WHERE A.ObjID=B.ObjID AND B.ObjID=C.ObjID
-- as
SELECT A.ObjID, A.seen_at, C.seen_at FROM Camera1 A, Camera2 B, Camera3 C
WHERE A.ObjID=B.ObjID AND B.ObjID=C.ObjID AND B.seen_at - A.seen_at BETWEEN 0 AND minutes(10)
AND C.seen_at - B.seen_at BETWEEN 0 AND minutes(20)

-- wjoin_path_both_directions
SELECT A.ObjID, A.seen_at AS a, B.seen_at AS b, C.seen_at AS c
FROM Camera1 A, Camera2 B, Camera3 C
DWINDOW (A,B)=w1 AND DWINDOW (B,C)=w2 BOTH DIRECTIONS
WHERE A.ObjID=B.ObjID AND B.ObjID=C.ObjID
-- as
SELECT A.ObjID, A.seen_at, B.seen_at, C.seen_at FROM Camera1 A, Camera2 B, Camera3 C
WHERE A.ObjID=B.ObjID AND B.ObjID=C.ObjID AND
((B.seen_at - A.seen_at BETWEEN 0 AND minutes(10) AND C.seen_at - B.seen_at BETWEEN 0 AND minutes(20))
OR (A.seen_at - B.seen_at BETWEEN 0 AND minutes(10) AND B.seen_at - C.seen_at BETWEEN 0 AND minutes(20)))
