"""Turns an API server's schemas and discovery into Python.

source ──▶ definitions ──▶ python_code     src/listwatch/models/<group>_<version>.py
               └─────────▶ tables          src/listwatch/models/table.py, src/listwatch/server/schema/schema_data.py
"""
