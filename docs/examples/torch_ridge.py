import numpy as np

from npbench.estimators.binary import BinaryClassifier


class TorchRidge(BinaryClassifier):
    def __init__(self, *, rho=0.05, alpha=1.0, device="cuda"):
        self.rho = rho
        self.alpha = alpha
        self.device = device

    def _fit(self, X, signs):
        import torch  # opens no GPU before the process of the fit

        Z, y = (torch.tensor(array, device=self.device) for array in (np.column_stack([X, np.ones(len(X))]), signs))
        penalty = self.alpha * torch.eye(Z.shape[1], dtype=Z.dtype, device=self.device)
        self.coef_ = torch.linalg.solve(Z.T @ Z + penalty, Z.T @ y).cpu().numpy()[:-1]
        negatives = X[signs < 0] @ self.coef_
        self.intercept_ = -np.quantile(negatives, 1 - self.rho, method="higher")

    def _scores(self, X):
        return X @ self.coef_ + self.intercept_
