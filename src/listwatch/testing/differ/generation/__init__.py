"""Generates scenarios with hypothesis, from samples of objects.

samples, custom_samples, admission_samples   one valid object of each kind, and the policies that always exist
objects                                      variants of the samples
applies, admission                           scenarios of server-side apply, and with quotas, limits and policies
scenarios                                    all other requests, and the scenarios of a seed
"""
