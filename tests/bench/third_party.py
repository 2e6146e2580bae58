"""A distribution of someone else that registers methods, as pip would have installed it."""

from textwrap import dedent

METHODS = '''
    """Reducers that behave and reducers that do not."""

    import os
    import sys

    import numpy as np
    from sklearn.decomposition import PCA


    class Theirs(PCA):
        """A reducer of someone else, whose iterations are numbers of NumPy."""

        def fit(self, X, y=None):
            super().fit(X)
            self.n_iter_ = np.array([1, 3], dtype=np.int64)
            return self


    class Exits(PCA):
        def fit(self, X, y=None):
            sys.exit("enough")


    class Dies(PCA):
        def fit(self, X, y=None):
            os._exit(7)
'''
NAMES = ("Theirs", "Exits", "Dies")


def install(folder):
    """Put the module and its metadata into a folder of the path."""
    metadata = folder / "their_methods-1.0.dist-info"
    metadata.mkdir(parents=True)
    (folder / "their_methods.py").write_text(dedent(METHODS))
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: their-methods\nVersion: 1.0\n")
    entries = "".join(f"{name} = their_methods:{name}\n" for name in NAMES)
    (metadata / "entry_points.txt").write_text(f"[skmultilearn.transformers]\n{entries}")
    return folder
