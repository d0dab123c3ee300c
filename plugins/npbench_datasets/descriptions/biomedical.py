"""Data sets of laboratories and clinics."""

from npbench.contracts import DataFile, Dataset

BIOMEDICAL = (
    Dataset(
        name="proteomics",
        load="npbench_datasets.percolator:load_proteomics",
        title="Peptide-spectrum matches, yeast: STAND-IN for the larger set of Gasso et al., another run",
        positive="targets, most of them false (Gasso et al. 2011); negative: decoys",
        source="percolator's example data; matches of one spectrum can be on both sides of a split",
        licence="Apache-2.0 (percolator)",
        citation="Käll, Canterbury, Weston, Noble, MacCoss (2007), Nature Methods 4, 923-925",
        files=(
            DataFile(
                path="percolator_yeast/percolatorTab",
                sha256="f990978a603ef85bfd7cb77195e2cfad07a504624598720f80ac6c290538f709",
                size=3869097,
                url="https://raw.githubusercontent.com/percolator/percolator/"
                "834544f37e72639a1a94622267e45774ac5dcedf/data/percolator/tab/percolatorTab",
            ),
        ),
        n_samples=19674,
        n_features=19,
        n_positive=9852,
    ),
)
