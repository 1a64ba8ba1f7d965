"""The default model on the processor, with onnxruntime and without PyTorch: its graph, in bytes, built once."""
