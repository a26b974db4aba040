"""The interactive views. They draw what they are given, and know no model."""

from tutor.views.attention import AttentionView
from tutor.views.beam import BeamView, Candidate
from tutor.views.journey import JourneyView
from tutor.views.mask import MaskView
from tutor.views.slicing import SlicingView
from tutor.views.softmax import SoftmaxView

__all__ = [
    "AttentionView",
    "BeamView",
    "Candidate",
    "JourneyView",
    "MaskView",
    "SlicingView",
    "SoftmaxView",
]
