"""Punctuated on Spark: the only package here that imports pyspark."""
