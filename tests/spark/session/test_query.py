"""What a query keeps in memory is made for what it writes."""

import pyarrow as pa

import punctuated as pt
from punctuated.output.in_band import GROUP, REJECTED, RESULT
from punctuated.output.views import View
from punctuated.spark.session.query import Query, Routing
from punctuated.storage.tables.written_file import OutputTable

ROWS = pa.table({"k": [1], "ts": [0], "v": [5]})


def test_results_that_are_written_beside_their_groups_are_whole() -> None:
    streams = [pt.stream(ROWS, name=name, key="k", time="ts", punctuations=pt.unique()) for name in "AB"]
    bound = pt.join(*streams).bound.group_by(("k",), {"n": pt.count()})
    tables = {part: OutputTable(part, pt.parquet(part), "", bound.results) for part in (GROUP, REJECTED, RESULT)}
    alone = Query(bound, routing=Routing((tables[GROUP], tables[REJECTED])))
    beside = alone.seen_as(View.FILES, bound.grouping, Routing(tuple(tables.values())))
    assert alone.new_driver(0).collector.schema.names == ["k"]
    assert beside.new_driver(0).collector.schema.names == bound.results.names
    assert alone.seen_as(View.FILES, bound.grouping, alone.routing).purpose != beside.purpose
