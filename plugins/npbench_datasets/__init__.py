"""Shipped data sets.

Which class is +1 follows the paper that a set is here for: the majority in those of Gasso et al. (2011), section 5.1;
the minority, with the label +1 in the IDA repository, in those of Davenport et al. (2006), section 4. Bach et al.
(2006) and Narasimhan and Agarwal (2016) do not name it. Of the former's sets some costs in table 2 are those of a
constant decision, which tells the class; else the minority or the rare class is our choice, but for psoriasis in
dermatology, the most common of six diseases.
"""

from npbench import hookimpl
from npbench.contracts import Dataset
from npbench_datasets.descriptions.biomedical import BIOMEDICAL
from npbench_datasets.descriptions.generated import GENERATED
from npbench_datasets.descriptions.ida import IDA
from npbench_datasets.descriptions.library import LIBRARY
from npbench_datasets.descriptions.libsvm import LIBSVM
from npbench_datasets.descriptions.uci import UCI
from npbench_datasets.descriptions.uci_medical import UCI_MEDICAL


@hookimpl
def npbench_datasets() -> list[Dataset]:
    """Describe the data sets."""
    return [*BIOMEDICAL, *GENERATED, *IDA, *LIBRARY, *LIBSVM, *UCI, *UCI_MEDICAL]


@hookimpl
def npbench_config_packages() -> list[str]:
    """Name the package with conf/dataset/*.yaml."""
    return ["npbench_datasets.conf"]
