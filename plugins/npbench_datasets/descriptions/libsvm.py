"""Data sets of the LIBSVM collection."""

from npbench.contracts import DataFile, Dataset
from npbench_datasets.descriptions import addresses

LIBSVM = (
    Dataset(
        name="a9a",
        load="npbench_datasets.libsvm:load_a9a",
        title="Income above 50,000 dollars: adult in 123 binary features, sparse",
        positive="label +1, income above 50,000 dollars, the rare class; negative: label -1",
        source="LIBSVM collection, made from UCI data set 2; both parts; 11868 duplicate rows; 5528 of the test part "
        "have the features of one of the training part",
        licence="none stated; made from Adult, CC BY 4.0",
        citation="Platt (1998), Fast training of support vector machines using sequential minimal optimization",
        files=(
            DataFile(
                path="a9a/a9a",
                sha256="f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906",
                size=2329875,
                url=f"{addresses.LIBSVM}/a9a",
            ),
            DataFile(
                path="a9a/a9a.t",
                sha256="1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9",
                size=1164628,
                url=f"{addresses.LIBSVM}/a9a.t",
            ),
        ),
        n_samples=48842,
        n_features=123,
        n_positive=11687,
        test_rows=(32561, 48842),
        protocol="holdout",  # the paper tests on a third: protocol.test_size=0.333
        preprocess="none",  # the paper standardises continuous features, and there are none
    ),
    Dataset(
        name="ijcnn1",
        load="npbench_datasets.libsvm:load_ijcnn1",
        title="Misfires of an engine, the challenge of IJCNN 2001 after its winner's transformation",
        positive="label +1, the rare class; negative: label -1",
        source="LIBSVM collection; training and validation part, then test part. The hash is that of the official text "
        "compressed by bzip2 -9",
        licence="none stated; a copy is under BSD-3",
        citation="Prokhorov (2001), IJCNN 2001 neural network competition; Chang, Lin (2001), IJCNN 2001 challenge: "
        "Generalization ability and text decoding",
        files=(
            DataFile(
                path="ijcnn1/ijcnn1.bz2",
                sha256="450dee8470b168e47b9fae1fc160396b8a809c675737837fce3acd51dcdc0481",
                size=1398220,
                url=f"{addresses.LIBSVM}/ijcnn1.bz2",
            ),
            DataFile(
                path="ijcnn1/ijcnn1.t.bz2",
                sha256="acd1db430684fdd3f0c768ecc49aa8e749d0004fc117611220c2aa576a7b6a24",
                size=2597597,
                url=f"{addresses.LIBSVM}/ijcnn1.t.bz2",
            ),
        ),
        n_samples=141691,
        n_features=22,
        n_positive=13565,
        test_rows=(49990, 141691),
    ),
)
