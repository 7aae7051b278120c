"""Generates scenarios with hypothesis, from samples of objects.

samples, custom_samples, admission_samples   one valid object of each kind, and the policies that always exist
objects                                      variants of the samples
applies, admission, access                   scenarios of apply, with quotas, limits and policies, and of roles
rare_options                                 requests with options that are rare elsewhere
scenarios                                    all other requests, and the scenarios of a seed
"""
