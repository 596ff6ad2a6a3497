"""Layers that tell which frequencies a signal has."""

from __future__ import annotations

from strategies.graph import Array, Layer
from strategies.kinds.arguments import more
from strategies.kinds.kind import LEFT_OUT, Kind, Spec, Specs, computed, floats, number, plain


def _mel(specs: Specs, layer: Layer) -> Specs | None:
    (length,) = specs[0].shape
    step, bins, width = (number(layer, name) for name in ("sequence_stride", "num_mel_bins", "fft_length"))
    assert isinstance(length, int)
    # Where a step does not divide the signal, it says another number of frames than it gives.
    if length <= width // 2 or length % step:
        return None
    return (Spec((bins, length // step + 1), computed(layer)),)


def _spectrum(specs: Specs, layer: Layer) -> Specs | None:
    """Frames of two, one at each place; two frequencies, both parts of them where all is asked for."""
    steps, channels = specs[0].shape
    assert isinstance(steps, int) and isinstance(channels, int)
    frequencies = 4 if layer.arg("mode") == "stft" else 2
    if steps < 2:
        return None
    shape = (
        (steps - 1, frequencies, channels) if layer.arg("expand_dims") is True else (steps - 1, frequencies * channels)
    )
    return (Spec(shape, computed(layer)),)


KINDS = (
    Kind(
        "MelSpectrogram",
        options={
            "fft_length": (4,),
            "sequence_stride": (2, 4),
            "num_mel_bins": (2, 3),
            "power_to_db": (LEFT_OUT, False),
            "sampling_rate": (100,),
        },
        more=more("sequence_length", "min_freq", "max_freq", "top_db", "mag_exp", "min_power", "ref_power"),
        fits=plain(floats(1, known=True)),
        gives=_mel,
        only="keras",
    ),
    Kind(
        "STFTSpectrogram",
        options={
            "frame_length": (2,),
            "frame_step": (1,),
            "window": (Array((2,)),),  # one by its name needs SciPy
            "mode": (LEFT_OUT, "magnitude", "stft", "real"),
            "expand_dims": (LEFT_OUT, True),
        },
        more=more("periodic", "scaling", "data_format"),
        fits=plain(floats(2, masked=False, known=True)),
        gives=_spectrum,
        only="keras",
    ),
)
