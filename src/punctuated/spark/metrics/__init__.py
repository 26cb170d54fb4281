"""What a join on Spark reports about itself, and where to send it; users know this as `pt.metrics`.

Every bucket reports once per micro-batch (`reports`). `reading` makes `JoinMetrics` of a query's progress and these
reports, `exporters` and `prometheus` send them somewhere, and `listener` is called for every micro-batch.

Invariant: metrics are sums over the last report of each bucket, so a batch that runs twice counts once. `join_metrics`,
`reading`, `exporters` and `prometheus` do without pyspark, because `import punctuated` loads them.

May import `spark.session`, and `runtime` and what stands below it in docs/contributing/architecture.md. Tests:
`tests/spark/metrics/`.
"""
