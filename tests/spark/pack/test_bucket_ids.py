"""Bucket ids land evenly, by Spark's own hash."""

from pyspark.sql import SparkSession
from pyspark.sql.functions import col, expr

from punctuated.model.spec import MOST_BUCKETS
from punctuated.spark.pack.bucket_ids import bucket_ids


def test_ids_are_hashed_to_consecutive_numbers(spark: SparkSession) -> None:
    ids = spark.createDataFrame([(number, each) for number, each in enumerate(bucket_ids())], "number INT, id INT")
    wrong = ids.where(expr(f"pmod(hash(id), {MOST_BUCKETS})") != col("number"))
    assert wrong.count() == 0


def test_every_power_of_two_of_partitions_is_loaded_evenly() -> None:
    assert len(bucket_ids()) == len(set(bucket_ids())) == MOST_BUCKETS
