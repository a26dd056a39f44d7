"""The only part that imports wgpu: adapters, devices, tensors, compiled operators."""
