"""The laboratory: what reproduces a paper for its own sake, beside the product and apart from it.

Each paper has a folder with its experiments and its formulas (`pwjoin`, `pjoin`, `kang`, `wjoin`), and `lab` has what
all experiments share. An experiment measures, judges claims by its measurements, and draws a picture;
`python -m papers` runs them.

Invariant: the papers import the product, and the product never imports them. They are in the repository and not in the
wheel. `papers.experiments` imports the folders of the papers, which import `lab` and not each other. Tests are in
`tests/papers`.
"""
