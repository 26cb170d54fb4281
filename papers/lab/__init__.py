"""What experiments of all papers share: claims, runs, the joins they observe, engines, races, and the look of pictures.

Invariant: nothing here knows a paper or an experiment. `lab` imports the product alone; an experiment sees engines
through `lab.experiment.Run`. Tests are in `tests/papers`.
"""
