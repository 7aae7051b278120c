"""Reports, tables and charts of the figures."""
