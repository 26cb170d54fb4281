"""Plans as text, JSON and pictures; the text is kept in `snapshots`, which PUNCTUATED_UPDATE=1 writes anew."""

import gc
import json
import os
import runpy
import weakref
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pytest

import punctuated as pt
from plan_cases import CASES, LONG_FLAG, LONG_KEY, auction_groups, auctions_and_bids, chain_of_groups, plain, shipped
from punctuated.plan.cost.weights import REFERENCE_WEIGHTS
from punctuated.plan.rendering.explain import WIDTH, explain
from punctuated.plan.tree import Fact, NodeKind, PlanNode
from punctuated.runtime.lineage import origin_of

ROOT = Path(__file__).parents[2]
SNAPSHOTS = Path(__file__).parent / "snapshots"
SVG = "{http://www.w3.org/2000/svg}"

pytestmark = [
    pytest.mark.filterwarnings("ignore::punctuated.UnboundedStateWarning"),
    pytest.mark.filterwarnings("ignore::punctuated.RejectedRowsWarning"),
]


@pytest.fixture(autouse=True)
def _same_weights_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("punctuated.plan.optimizer.machine_weights", lambda: REFERENCE_WEIGHTS)


def words_of(svg: str) -> str:
    """All that is written in a picture, without breaks."""
    root = ElementTree.fromstring(svg)
    return "".join("".join(text.itertext()) for text in root.iter(f"{SVG}text")).replace(" ", "")


@pytest.mark.parametrize("name", CASES)
def test_the_text_is_that_of_the_snapshot(name: str) -> None:
    told, path = pt.explain(CASES[name]()) + "\n", SNAPSHOTS / f"{name}.txt"
    if os.environ.get("PUNCTUATED_UPDATE") == "1":
        path.write_text(told, encoding="utf-8")
    assert told == path.read_text(encoding="utf-8")
    assert max(map(len, told.splitlines())) <= WIDTH


@pytest.mark.parametrize("name", CASES)
def test_all_formats_say_the_same(name: str) -> None:
    query = CASES[name]()
    told, picture = json.loads(pt.explain(query, format="json")), words_of(pt.explain(query, format="svg"))
    text = "".join(line.strip("│├└─ ") for line in pt.explain(query).splitlines()).replace(" ", "")
    nodes = [told]
    while nodes:
        node = nodes.pop()
        for said in (node["title"], *(f"{name}:{fact['text']}" for name, fact in node["facts"].items())):
            assert said.replace(" ", "") in text
            assert said.replace(" ", "") in picture
        nodes += node["children"]


def test_a_picture_stands_alone_and_says_what_it_is() -> None:
    svg = pt.explain(auction_groups(), format="svg")
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg" and root.attrib["aria-label"] == "groups by item_id"
    assert "prefers-color-scheme: dark" in svg
    assert svg.count("http") == 1  # the name of SVG itself: nothing is loaded
    boxes = [each for each in root.iter(f"{SVG}rect") if "box" in each.attrib["class"]]
    assert len(boxes) == 4


def test_the_page_shows_what_is_told_today() -> None:
    drawn = runpy.run_path(str(ROOT / "scripts" / "draw_plan.py"))
    assert drawn["draw"]() == (ROOT / "docs" / "pictures" / "plan.svg").read_text(encoding="utf-8")
    assert pt.explain(drawn["auction_counts"]()) in (ROOT / "docs" / "explain.md").read_text(encoding="utf-8")


def test_a_chain_does_not_keep_what_the_inner_join_gave_out() -> None:
    inner = auctions_and_bids()
    results, outer = weakref.ref(inner.results), pt.join(pt.stream(inner, window="1 day"), shipped())
    del inner
    gc.collect()
    assert results() is None
    assert "inner join of A and B" in outer.explain()


def test_dashed_arrows_are_there_where_punctuations_flow() -> None:
    quiet = pt.join(plain("A", window=5), plain("B", window=5)).explain(format="svg")
    assert quiet.count('class="punctuations"') == 1  # of the legend
    one_sided = pt.join(plain("A", window=5, punctuations=pt.unique()), plain("B", window=5)).explain(format="svg")
    assert one_sided.count('class="punctuations"') == 3  # from A, to the output


def test_boxes_do_not_overlap() -> None:
    for query in (case() for case in CASES.values()):
        root = ElementTree.fromstring(pt.explain(query, format="svg"))
        boxes = [each.attrib for each in root.iter(f"{SVG}rect") if "box" in each.attrib["class"]]
        places = [[float(box[name]) for name in ("x", "y", "width", "height")] for box in boxes]
        for i, (x, y, width, height) in enumerate(places):
            assert x >= 0 and y >= 0 and x + width <= float(root.attrib["width"])
            assert y + height <= float(root.attrib["height"])
            for other_x, other_y, _, other_height in places[:i]:
                assert x != other_x or y >= other_y + other_height or other_y >= y + height


def test_deep_plans_are_drawn_and_written() -> None:
    plan = PlanNode(NodeKind.STREAM, "A: left stream")
    for _ in range(60):
        plan = PlanNode(NodeKind.JOIN, "join", (Fact("algorithm", "pwjoin"),), (plan, PlanNode(NodeKind.STREAM, "B")))
    assert explain(plan, "svg").count('<rect class="box') == 121
    assert len(explain(plan).splitlines()) == 181


def test_names_are_escaped_and_what_xml_cannot_say_is_replaced() -> None:
    svg = pt.explain(CASES["long_names"](), format="svg")
    assert LONG_FLAG in words_of(svg) and LONG_KEY in words_of(svg)
    table = pa.table({"a\x01<b>": [1], "ts": [0]})
    a, b = (pt.stream(table, name=name, key="a\x01<b>", time="ts", window=1) for name in ("A\n]]>", '"&amp;'))
    odd = pt.join(a, b)
    assert "a\ufffd<b>" in words_of(odd.explain(format="svg"))
    assert "\x01" in json.loads(odd.explain(format="json"))["title"]
    assert len({line[:1] for line in odd.explain().splitlines()} - set("i│├└ ")) == 0


def test_numbers_are_for_machines() -> None:
    plan = json.loads(auctions_and_bids().explain(format="json"))
    a, b = plan["children"]
    assert (plan["kind"], a["kind"], a["name"], b["name"]) == ("join", "stream", "A", "B")
    assert a["facts"]["seen"]["tuples"] == 2 and b["facts"]["seen"]["punctuations"] == 1
    assert b["facts"]["state"] == {
        "text": "bounded by A's punctuations; keys that never come in A stay until it ends; about 0 tuples, 0 bytes",
        "bounded": True,
        "tuples": 0.0,
        "bytes": 0.0,
    }
    state = a["facts"]["state"]
    assert 0 < state["tuples"] <= 2 and state["bytes"] == pytest.approx(state["tuples"] * (16 + 61))
    assert a["facts"]["window"]["span_us"] == 12 * 3_600_000_000


def test_groups_say_what_finishes_them() -> None:
    joined = auctions_and_bids()
    assert "final: when its key (item_id) is over in the output of the join" in joined.group_by("item_id").explain()
    assert "final: only when both streams have ended" in joined.group_by("price").explain()
    assert json.loads(joined.group_by("item_id", "price").explain(format="json"))["punctuates"] is True
    with pytest.raises(pt.AggregateError, match="no column 'item'"):
        joined.group_by("item").explain()


@pytest.mark.parametrize(
    ("how", "left", "right", "rule"),
    [
        ("inner", True, True, "when both streams have ended a value, or A or B has ended it and its last tuple"),
        ("inner", False, True, "when B has ended a value and its last tuple there is gone"),
        ("left", True, False, "when A has ended a value and its last tuple there is gone"),
        ("left", False, True, "none before a stream ends, since only B brings any, and both streams would have to"),
        ("full", True, True, "when both streams have ended a value"),
        ("full", False, False, "none, since no stream brings any"),
    ],
)
def test_when_the_output_is_punctuated(how: str, left: bool, right: bool, rule: str) -> None:
    said: list[Any] = [pt.unique() if does else None for does in (left, right)]
    joined = pt.join(*(plain(n, window=5, punctuations=each) for n, each in zip("AB", said, strict=True)), how=how)
    found = joined.plan().fact("output punctuations")
    assert found is not None and found.text.startswith(rule)
    told_before_the_end = any(at < 9_000_000 for at in joined.punctuations["ts"].to_pylist())
    assert told_before_the_end == (not rule.startswith("none")) == joined.plan().punctuates


def test_a_chain_holds_the_plans_that_it_is_made_of() -> None:
    outer = chain_of_groups().plan()
    kinds = [node.kind.value for node in outer.nodes()]
    assert kinds == ["join", "stream", "groups", "join", "stream", "stream", "stream"]
    assert outer.children[0].children[0] == plan_of(auction_groups())


def plan_of(groups: Any) -> Any:
    """The plan of groups, by themselves."""
    origin = origin_of(groups)
    assert origin is not None
    return origin.plan()


def test_other_forms_and_other_things_are_refused() -> None:
    joined = auctions_and_bids()
    for wrong in ("png", "SVG", None, ["text"]):
        with pytest.raises(pt.ExplainError, match=r"a plan is shown as 'text', 'json', 'svg'"):
            joined.explain(format=wrong)
    with pytest.raises(pt.ExplainError, match="not one derived from it, nor Table"):
        pt.explain(auction_groups().slice(0, 1))
    with pytest.raises(pt.ExplainError, match="sinks are for joins of DataFrames"):
        pt.explain(joined, results="somewhere")
