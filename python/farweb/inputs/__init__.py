"""Requests that are studied without being simulated, from request tables, logs and traces.

`requests.open_input` opens any of them. `formats` detects the format of a file and unpacks it.
"""
