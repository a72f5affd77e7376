# SPDX-License-Identifier: MIT
"""Writes the samples of this folder as .npy files, for `loopwright quantize` and `evaluate`: 100 of the images that the
network was trained on (calibration.npy), the 360 that it was not (test.npy), and what the latter's writers meant
(test_labels.npy). Grey levels divided by 16, as the network reads them; exact in float16. Requires scikit-learn."""
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

images, labels = load_digits(return_X_y=True)
images = (images / 16).reshape(-1, 1, 8, 8).astype(np.float16)
train, test, _, meant = train_test_split(images, labels, test_size=360, stratify=labels, random_state=20)
np.save("calibration.npy", train[:100])
np.save("test.npy", test)
np.save("test_labels.npy", meant.astype(np.int32))
