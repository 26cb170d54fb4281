"""What a join on Spark says about itself, and where to send it; users know this as `pt.metrics`.

Every bucket reports once per micro-batch: by an accumulator (`reports`), or over Spark Connect through the progress of
its query (`in_output`). `reading` makes `JoinMetrics` of a progress and these, `exporters` and `prometheus` send them
somewhere, and `listener` hears of every micro-batch.
"""
