"""Biomedical data sets; all except proteomics are read from files that users bring."""

from npbench.contracts import DataFile, Dataset

BIOMEDICAL = (
    Dataset(
        name="chemo",
        load="npbench_datasets.molecules:load_chemo",
        title="Compounds by their fingerprints: antagonists of the alpha1A adrenoceptor",
        positive="label +1, antagonist, the rare class; negative: label -1, inactive",
        source="a file you bring, chemo.svm: FP2 fingerprints in the format of LIBSVM; parameter path",
        licence="that of your file",
        citation="Jorissen, Gilson (2005), Virtual screening of molecular databases using a support vector machine, "
        "J. Chem. Inf. Model. 45(3), 549-561",
        n_samples=2142,
        n_features=1021,
        n_positive=50,
    ),
    Dataset(
        name="cod_rna",
        load="npbench_datasets.molecules:load_cod_rna",
        title="Pairs of genome sequences: non-coding RNA",
        positive="label +1, non-coding RNA, the rare class; negative: label -1",
        source="three files you bring, of the LIBSVM collection: cod-rna, cod-rna.t, cod-rna.r; parameter path",
        licence="none stated",
        citation="Uzilov, Keegan, Mathews (2006), Detection of non-coding RNAs on the basis of predicted secondary "
        "structure formation free energy change, BMC Bioinformatics 7, 173",
        n_samples=488565,
        n_features=8,
    ),
    Dataset(
        name="kddcup06",
        load="npbench_datasets.kddcup:load_kddcup06",
        title="Pulmonary embolism: candidate regions in CT images",
        positive="label above 0, embolism, the rare class; negative: label 0",
        source="two files you bring: KDDPETrain.txt, and KDDPETest.txt with its labels; parameter path",
        licence="that of the KDD Cup 2006",
        citation="Lane, Rao, Bi, Liang, Salganicoff (2006), On the medical frontier: the 2006 KDD Cup competition and "
        "results, SIGKDD Explorations 8(2), 39-46",
        n_samples=4429,
        n_features=116,
        n_positive=500,
    ),
    Dataset(
        name="kddcup08",
        load="npbench_datasets.kddcup:load_kddcup08",
        title="Breast cancer: candidate regions in mammograms",
        positive="label +1, malignant, the rare class; negative: label -1",
        source="two files you bring: Features.txt and Info.txt of the training data; parameter path",
        licence="that of the KDD Cup 2008",
        citation="Rao, Yakhnenko, Krishnapuram (2008), KDD Cup 2008 and the workshop on mining medical data, SIGKDD "
        "Explorations 10(2), 34-38",
        n_samples=102294,
        n_features=117,
        n_positive=623,
    ),
    Dataset(
        name="ppi",
        load="npbench_datasets.molecules:load_ppi",
        title="Pairs of yeast proteins: interacting or not",
        positive="pairs known to interact, the rare class; negative: pairs drawn at random",
        source="two files you bring: dipsPosPair.feature and dipsRandpairSub23w.feature; gaps are filled from all "
        "rows, as in the paper, which keeps 85 features; parameter path",
        licence="that of your files",
        citation="Qi, Bar-Joseph, Klein-Seetharaman (2006), Evaluation of different biological data and computational "
        "classification methods for use in protein interaction prediction, Proteins 63(3), 490-500",
        n_samples=240249,
        n_positive=2865,
    ),
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
    Dataset(
        name="tcga",
        load="npbench_datasets.molecules:load_tcga",
        title="Read counts of genes in tissue: tumour or normal",
        positive="tumour, the majority: errors on normal tissue are bounded (Barlaud et al. 2015); negative: normal",
        source="a file you bring: genes in rows, TCGA barcodes above columns, .tsv or .parquet; parameters path, psi",
        licence="that of your file; open at the Genomic Data Commons",
        citation="The Cancer Genome Atlas Research Network (2014), Comprehensive molecular profiling of lung "
        "adenocarcinoma, Nature 511, 543-550",
    ),
)
