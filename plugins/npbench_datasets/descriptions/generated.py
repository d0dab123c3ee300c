"""Data sets that npbench draws."""

from npbench.contracts import Dataset

GENERATED = (
    Dataset(
        name="covertype_like",
        load="npbench_datasets.covertype_like:load_covertype_like",
        title="STAND-IN for covertype, drawn: same size, class counts and kinds of features",
        positive="the class shifted by separation, the majority, as in covertype",
        source="drawn by npbench; parameters n_pos, n_neg, separation, seed",
        licence="none needed",
        citation="sizes after Gasso, Pappaioannou, Spivak, Bottou (2011), ACM TIST 2(3), Table I",
    ),
    Dataset(
        name="qvalue_mixture",
        load="npbench_datasets.qvalue:load_qvalue_mixture",
        title="Gaussian positives, a known share of which are false",
        positive="around a mean at distance separation, the false ones like negatives; negative: around 0",
        source="drawn by npbench; parameters n_pos, n_neg, n_features, share_false, separation, seed",
        licence="none needed",
        citation="after the target-decoy model of Elias, Gygi (2007), Nature Methods 4(3), 207-214",
    ),
    Dataset(
        name="rcv1_like",
        load="npbench_datasets.rcv1_like:load_rcv1_like",
        title="STAND-IN for rcv1, drawn: same size, density and class counts",
        positive="documents of words that lean to it, the majority, as in rcv1",
        source="drawn by npbench; parameters n_pos, n_neg, n_features, density, separation, seed",
        licence="none needed",
        citation="sizes after Gasso, Pappaioannou, Spivak, Bottou (2011), ACM TIST 2(3), Table I",
    ),
    Dataset(
        name="synthetic",
        load="npbench_datasets.gaussians:load_synthetic",
        title="Two Gaussians in the plane",
        positive="the Gaussian around (1.5, 1.5), our choice; negative: the one around the origin",
        source="drawn by npbench; parameters n_pos, n_neg, seed",
        licence="none needed",
        citation="after Gasso, Pappaioannou, Spivak, Bottou (2011), ACM TIST 2(3), section 5.1 and Fig. 2",
    ),
)
