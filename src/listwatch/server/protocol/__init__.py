"""Requests from methods, URLs and queries; the options of requests; discovery."""
