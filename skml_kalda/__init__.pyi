"""The public names: type checkers read them here, the lazy import and the entry points do, too.

A new reducer needs one line, with the module that it is in.
"""

from skml_kalda import framework as framework
from skml_kalda.classifiers._predictions import top_labels as top_labels
from skml_kalda.classifiers.kalda import KaLDAClassifier as KaLDAClassifier
from skml_kalda.classifiers.neighbors import BinaryRelevanceKNN as BinaryRelevanceKNN
from skml_kalda.classifiers.neighbors import MLkNN as MLkNN
from skml_kalda.persistence import trusted_types as trusted_types
from skml_kalda.reducers.cca import CCA as CCA
from skml_kalda.reducers.checks import check_reducer as check_reducer
from skml_kalda.reducers.kalda.kernel import KernelKaLDA as KernelKaLDA
from skml_kalda.reducers.kalda.kernel import LandmarkFeatures as LandmarkFeatures
from skml_kalda.reducers.kalda.linear import MultiLabelKaLDA as MultiLabelKaLDA
from skml_kalda.reducers.kalda.scaler import AlignmentScaler as AlignmentScaler
from skml_kalda.reducers.lda import LDA as LDA
from skml_kalda.reducers.lda import OLDA as OLDA
from skml_kalda.reducers.lda import RLDA as RLDA
from skml_kalda.reducers.lda import ULDA as ULDA
from skml_kalda.reducers.mddm import MDDM as MDDM
from skml_kalda.reducers.mlda import MLDA as MLDA
from skml_kalda.reducers.mlls import MLLS as MLLS
from skml_kalda.reducers.mlr import MLR as MLR
from skml_kalda.reducers.mlsi import MLSI as MLSI
from skml_kalda.reducers.opls import OPLS as OPLS
from skml_kalda.reducers.trace import MMC as MMC
from skml_kalda.reducers.trace import OCM as OCM
from skml_kalda.reducers.trace import SDPLDA as SDPLDA
from skml_kalda.reducers.trace import TraceRatio as TraceRatio

__all__: list[str]
__version__: str
