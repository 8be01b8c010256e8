"""Data with a known truth, the same as the program's ``generate``.

Every function returns a `sklearn.utils.Bunch` with `data` (samples in rows), `target` (the class of each
sample), `target_names`, `n_clusters` (classes to be found), `background` (the class of samples that belong
to nothing, or None), and for images `shape` and `order`, such that ``labels.reshape(shape, order=order)``
is the image; or ``(data, target)`` with ``return_X_y=True``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from sklearn.utils import Bunch, check_array

from . import _orthant
from ._base import seed
from ._typing import ArrayLike, RandomState, Scan

__all__ = ["make_models", "make_plane", "make_scene", "make_swimmer", "make_synthetic", "make_telescope"]


def _made(parts: dict[str, Any], return_X_y: bool) -> Any:
    made = Bunch(**parts)
    return (made.data, made.target) if return_X_y else made


def _generate(name: str, return_X_y: bool, **values: Any) -> Any:
    return _made(_orthant.generate(name, [(key, str(value)) for key, value in values.items()]), return_X_y)


def make_synthetic(
    noise: float = 0.0,
    *,
    sizes: Sequence[int] = (100, 90, 80, 70, 60, 50),
    n_features: int = 10,
    scaling: tuple[float, float] = (0.1, 1.0),
    random_state: RandomState = 0,
    return_X_y: bool = False,
) -> Any:
    """Clusters of scaled copies of random centroids, plus noise.

    Parameters
    ----------
    noise : float, default=0.0
        Standard deviation of the noise on every entry; what is negative is then set to 0.
    sizes : sequence of int, default=(100, 90, 80, 70, 60, 50)
        Samples of each cluster.
    n_features : int, default=10
        Features of a sample.
    scaling : (float, float), default=(0.1, 1.0)
        Smallest and largest factor of a centroid.
    random_state : int, RandomState instance or None, default=0
        Chooses centroids, factors and noise.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    made : Bunch or tuple
        See the module.

    Examples
    --------
    >>> from orthant.datasets import make_synthetic
    >>> X, y = make_synthetic(noise=0.1, return_X_y=True)
    >>> X.shape
    (450, 10)
    """
    values = {"sizes": ",".join(map(str, sizes)), "scaling": ",".join(map(str, scaling))}
    return _generate(
        "synthetic", return_X_y, noise=noise, seed=seed(random_state), dimension=n_features, **values
    )


def make_models(
    kind: Literal["independent", "proportional", "scale", "coinciding"] = "independent",
    *,
    n_samples: int = 450,
    n_features: int = 10,
    n_clusters: int = 6,
    noise: float = 0.05,
    norms: Literal["uniform", "lognormal", "exponential"] = "uniform",
    random_state: RandomState = 0,
    return_X_y: bool = False,
) -> Any:
    """Clusters made for one of the models that `orthant.advise` tells apart.

    Parameters
    ----------
    kind : {"independent", "proportional", "scale", "coinciding"}, default="independent"
        Noise that does not depend on the norm (for ONMF), that is proportional to it (for spherical k-means),
        clusters that differ by their distance from the origin (for k-means), or clusters that all of them find.
    n_samples : int, default=450
        Number of samples.
    n_features : int, default=10
        Features of a sample.
    n_clusters : int, default=6
        Number of clusters; their sizes fall evenly to half of the first.
    noise : float, default=0.05
        Standard deviation of the noise on every entry; what is negative is then set to 0.
    norms : {"uniform", "lognormal", "exponential"}, default="uniform"
        How the factors of the directions are distributed, for the first two kinds.
    random_state : int, RandomState instance or None, default=0
        Chooses everything random.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    made : Bunch or tuple
        See the module.

    Examples
    --------
    >>> import orthant
    >>> X, _ = orthant.datasets.make_models("proportional", return_X_y=True)
    >>> orthant.advise(X, 6).answer
    'spherical-k-means'
    """
    values = {"kind": kind, "points": n_samples, "dimension": n_features, "clusters": n_clusters}
    return _generate("models", return_X_y, noise=noise, norms=norms, seed=seed(random_state), **values)


def make_plane(
    example: Literal["in-line", "separated"] = "in-line",
    *,
    n_samples_per_cluster: int = 100,
    random_state: RandomState = 0,
    return_X_y: bool = False,
) -> Any:
    """Two clusters in the plane.

    Parameters
    ----------
    example : {"in-line", "separated"}, default="in-line"
        Along one direction, where k-means finds them and methods that look at angles do not; or in two.
    n_samples_per_cluster : int, default=100
        Samples of each cluster.
    random_state : int, RandomState instance or None, default=0
        Chooses the samples.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    made : Bunch or tuple
        See the module.

    Examples
    --------
    >>> from orthant.datasets import make_plane
    >>> make_plane("separated").target_names
    ['upper left', 'lower right']
    """
    values = {"example": example, "points-per-cluster": n_samples_per_cluster, "seed": seed(random_state)}
    return _generate("plane", return_X_y, **values)


def make_swimmer(layout: Literal["20x11", "32x32"] = "20x11", *, return_X_y: bool = False) -> Any:
    """Pixels of 256 images of a body with four moving limbs: 17 parts that do not overlap.

    Parameters
    ----------
    layout : {"20x11", "32x32"}, default="20x11"
        Size of the images.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    made : Bunch or tuple
        See the module; samples are pixels, features are images.

    Examples
    --------
    >>> from orthant.datasets import make_swimmer
    >>> made = make_swimmer()
    >>> made.data.shape, made.n_clusters
    ((220, 256), 17)
    """
    return _generate("swimmer", return_X_y, layout=layout)


def make_telescope(noise: float = 0.0, *, random_state: RandomState = 0, return_X_y: bool = False) -> Any:
    """A hyperspectral image of a space telescope: 8 materials, 100 bands, 128 x 128 pixels, black sky.

    Parameters
    ----------
    noise : float, default=0.0
        Standard deviation of the noise on every entry, sky included.
    random_state : int, RandomState instance or None, default=0
        Chooses the noise.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    made : Bunch or tuple
        See the module.

    Examples
    --------
    >>> from orthant.datasets import make_telescope
    >>> made = make_telescope()
    >>> made.data.shape, made.shape, made.target_names[made.background]
    ((16384, 100), (128, 128), 'sky')
    """
    return _generate("telescope", return_X_y, noise=noise, seed=seed(random_state))


def make_scene(
    endmembers: ArrayLike,
    abundances: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    noise: float = 0.0,
    shape: tuple[int, int] | None = None,
    order: Scan = "C",
    dtype: Any = np.float64,
    random_state: RandomState = 0,
    return_X_y: bool = False,
) -> Any:
    """Pixels mixed from the spectra of materials.

    Parameters
    ----------
    endmembers : array-like of shape (n_materials, n_bands)
        Nonnegative spectra.
    abundances : array-like of shape (n_pixels, n_materials)
        Share of each material in each pixel; the largest is the pixel's class.
    names : sequence of str, default=None
        Names of the materials.
    noise : float, default=0.0
        Standard deviation of the noise on every entry; what is negative is then set to 0.
    shape : (int, int), default=None
        Height and width of the image.
    order : {"C", "F"}, default="C"
        Whether pixels are listed row after row or column after column.
    dtype : {numpy.float64, numpy.float32}, default=numpy.float64
        Format of the data.
    random_state : int, RandomState instance or None, default=0
        Chooses the noise.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    made : Bunch or tuple
        See the module.

    Examples
    --------
    >>> from orthant.datasets import make_scene
    >>> made = make_scene([[1, 0, 2], [0, 3, 1]], [[.9, .1], [.2, .8]], names=["soil", "water"])
    >>> made.data
    array([[0.9, 0.3, 1.9],
           [0.2, 2.4, 1.2]])
    """
    endmembers = check_array(endmembers, dtype=np.float64, input_name="endmembers")
    abundances = check_array(abundances, dtype=np.float64, input_name="abundances")
    if np.dtype(dtype) not in (np.float64, np.float32):
        raise ValueError(f"dtype must be float64 or float32, got {np.dtype(dtype)}.")
    if order not in ("C", "F"):
        raise ValueError(f"order must be 'C' or 'F', got {order!r}.")
    made = _orthant.scene(
        endmembers,
        abundances,
        [] if names is None else [str(name) for name in names],
        float(noise),
        seed(random_state),
        np.dtype(dtype) == np.float32,
        None if shape is None else tuple(shape),
        order == "F",
    )
    return _made(made, return_X_y)
