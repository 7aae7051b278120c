"""The rules that objects must keep. A rule looks at a value and its place, and says what is wrong with it, if anything.

Rules are values that larger rules are made of: `checks` has the pieces, `formats` what texts must look like, and each
other module the kinds that it is named after. `table` says which rules a kind has; `validation`, outside, applies them.
"""
