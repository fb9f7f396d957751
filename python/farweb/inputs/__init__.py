"""Requests that are studied without being simulated, from request tables, logs and traces.

`requests.open_input` is what others use; `formats` tells what a file is and unpacks it.
"""
