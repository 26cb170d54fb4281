"""What a join on Spark reports about itself, and where to send it; users know this as `pt.metrics`.

Every bucket reports once per micro-batch: by an accumulator (`reports`), or with Spark Connect through the progress of
its query (`in_output`). `reading` makes `JoinMetrics` of a progress and these reports, `exporters` and `prometheus`
send them somewhere, and `listener` is called for every micro-batch.
"""
