"""The toy model learns."""

import re


def test_the_loss_of_the_training_falls(output_of):
    output = output_of("training", "--steps", 40, "--size", 300)
    losses = [float(loss) for loss in re.findall(r"loss (\S+)", output)]

    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0] / 4
