"""What a join on Spark says about itself, and where to send it; users know this as `pt.metrics`.

Every bucket reports once per micro-batch through the progress of its query. `reading` makes `JoinMetrics` of a
progress, `exporters` and `prometheus` send them somewhere, and `listener`, the only one that needs pyspark, hears of
every micro-batch.
"""
