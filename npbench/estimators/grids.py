"""Default grids that several solvers share; imports nothing, since every command reads descriptions of solvers."""

# Gasso et al. (2011), sections 5.2 and 5.4: ten values each, evenly on a log scale.
COSTS = ["geomspace", 0.01, 100, 10]
GAMMAS = ["geomspace", 5e-5, 5000, 10]  # 1 / (2 sigma^2) for bandwidths sigma from 100 to 0.01
RAMP_SEARCH = {"C": COSTS, "gamma": GAMMAS}

PAUC_COSTS = ["geomspace", 0.1, 10000, 6]  # SVMs for partial AUC: a factor of ten apart
