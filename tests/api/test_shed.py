"""Joins that shed: a random sample of the results, and estimates that are right on average."""

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import punctuated as pt
from table_streams import declare

SEEDS = 200


def table(seed: int, n: int, seconds: float) -> pa.Table:
    drawn = np.random.default_rng(seed)
    ts = np.sort(drawn.integers(0, int(seconds * 1e6), n))
    return pa.table({"k": drawn.integers(0, 4, n), "ts": ts, "v": drawn.normal(10, 3, n)})


A, B = table(1, 600, 60), table(2, 900, 60)


def streams(batches: int = 1, window: Any = "5 seconds") -> list[pt.TableStream]:
    made = []
    for data, name in ((A, "A"), (B, "B")):
        cuts = [int(each) for each in np.linspace(0, len(data), batches + 1)]
        parts = [data[low:high] for low, high in pairwise(cuts)]
        made.append(declare(parts, name=name, key="k", time="ts", window=window))
    return made


def joined(shed: Any = None, **options: Any) -> pt.Join:
    return pt.join(*streams(**options), shed=shed)


def test_results_are_a_part_of_those_of_the_whole_join() -> None:
    whole = {tuple(row.values()) for row in joined().results.to_pylist()}
    sheds = joined(pt.shed(rate=8, tuples=40, floor=1, seed=3), batches=4)
    kept = [tuple(row.values()) for row in sheds.results.to_pylist()]
    assert 0 < len(kept) < len(whole) / 2
    assert set(kept) <= whole
    assert len(set(kept)) == len(kept)


def test_seeds_decide_what_is_shed() -> None:
    one, same, other = (joined(pt.shed(rate=5, seed=seed)).results for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_the_share_that_was_kept_is_told() -> None:
    kept = joined(pt.shed(rate=10, strategy="max-left")).kept
    assert kept["stored_left"] == kept["stored_right"] == 1
    assert kept["probed_left"] == pytest.approx(1, abs=0.01)  # 10 per second is all of A
    assert kept["probed_right"] == pytest.approx(0, abs=0.01)
    assert joined().kept["probed_left"] == 1


def test_metrics_count_what_was_left_out_by_the_time_it_was() -> None:
    for batches in (1, 4):
        sheds = joined(pt.shed(rate=8, tuples=40, floor=1, seed=3), batches=batches)
        metrics = {name: np.array(column) for name, column in sheds.metrics.to_pydict().items()}
        for side in ("left", "right"):
            for what, kept in (("unprobed", "probed"), ("unstored", "stored")):
                left_out, tuples = metrics[f"{what}_{side}"], metrics[f"tuples_{side}"]
                assert (np.diff(left_out, prepend=0) >= 0).all()
                assert (np.diff(left_out, prepend=0) <= np.diff(tuples, prepend=0)).all()
                assert left_out[-1] == round((1 - sheds.kept[f"{kept}_{side}"]) * tuples[-1]) > 0


@pytest.mark.parametrize("options", [{"rate": 10}, {"tuples": 50}, {"rate": 12, "tuples": 60, "strategy": "equal"}])
@pytest.mark.parametrize("batches", [1, 5])
def test_intervals_hold_the_truth(options: dict[str, Any], batches: int) -> None:
    """Over 200 seeds the true value lies inside the 95 % interval in 90 to 99 % of the runs."""
    asked = {"n": pt.count(), "total": pt.sum("v_right"), "mean": pt.mean("v_right")}
    with pytest.warns(pt.LateGroupsWarning):
        exact = joined(batches=batches).group_by("k").agg(**asked).to_pydict()
    truth = {name: dict(zip(exact["k"], exact[name], strict=True)) for name in asked}
    inside = dict.fromkeys(asked, 0)
    runs = 0
    for seed in range(SEEDS):
        sheds = joined(pt.shed(**options, seed=seed), batches=batches)
        with pytest.warns(pt.LateGroupsWarning):
            groups = sheds.group_by("k").agg(**asked).to_pylist()
        for group in groups:
            runs += 1
            for name in asked:
                distance = abs(group[name] - truth[name][group["k"]])
                inside[name] += distance <= 1.96 * group[f"{name}_error"]
    assert runs > 3.9 * SEEDS
    for name, n in inside.items():
        assert 0.90 <= n / runs <= 0.99, name


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: pt.shed(rate=0), pt.ShedError, "more than 0"),
        (lambda: pt.shed(tuples=-3), pt.ShedError, "more than 0"),
        (lambda: pt.shed(), pt.ShedError, "nothing to shed by"),
        (lambda: joined(pt.shed(rate=5, strategy="fair")), pt.CostError, "known are: optimal"),
        (lambda: joined(pt.shed(rate=5, floor=3)), pt.CostError, "floor"),
        (lambda: joined(5), pt.ShedError, "give pt.shed"),
        (lambda: pt.join(*streams(), how="left", shed=pt.shed(rate=5)), pt.ShedError, "use an inner join"),
        (
            lambda: joined(pt.shed(rate=5)).group_by("k").agg(most=pt.max("v_left")),
            pt.AggregateError,
            "cannot be estimated",
        ),
    ],
)
def test_bad_input(make: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        make()
