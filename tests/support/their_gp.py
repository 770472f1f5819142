# SPDX-License-Identifier: Apache-2.0
"""GPyTorch's exact Gaussian process with our kernel, at hyper-parameters of ours."""

from contextlib import contextmanager

import pytest

torch = pytest.importorskip("torch")
gpytorch = pytest.importorskip("gpytorch")


@contextmanager
def double_precision():
    """Float64 on one thread; afterwards as it was."""
    dtype, threads = torch.get_default_dtype(), torch.get_num_threads()
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_default_dtype(dtype)
        torch.set_num_threads(threads)


class TheirGP(gpytorch.models.ExactGP):
    """An exact GP with a constant mean and a Matern-5/2 kernel."""

    def __init__(self, X, y, likelihood):
        super().__init__(torch.as_tensor(X), torch.as_tensor(y), likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        kernel = gpytorch.kernels.MaternKernel(2.5, ard_num_dims=X.shape[1])
        self.covar_module = gpytorch.kernels.ScaleKernel(kernel)

    def forward(self, X):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(X), self.covar_module(X))


def their_gp(X, y, hyper, groups, *, learned):
    """The model at our hyper-parameters; its noise is one to be learned, or fixed."""
    fixed = torch.full((len(y),), hyper.noise)
    least = gpytorch.constraints.GreaterThan(1e-8)
    likelihood = (
        gpytorch.likelihoods.GaussianLikelihood(noise_constraint=least)
        if learned
        else gpytorch.likelihoods.FixedNoiseGaussianLikelihood(fixed)
    )
    model = TheirGP(X, y, likelihood)
    model.covar_module.outputscale = hyper.outputscale
    model.covar_module.base_kernel.lengthscale = torch.tensor(hyper.lengthscales[groups])
    model.mean_module.constant.data.fill_(hyper.mean)
    if learned:
        likelihood.noise = hyper.noise
    return model
