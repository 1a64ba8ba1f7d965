"""Turns texts into unit vectors; the only place that imports a model runtime."""

import os

# onnxruntime reports its use to its makers since 1.29, unless this is set before it is imported: nothing that
# is done with transcripts leaves the machine. Set here because every module of this package runs after it.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
