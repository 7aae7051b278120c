"""Generates Python modules from the schemas and discovery of an API server.

source ──▶ definitions ──▶ python_code     src/listwatch/models/<group>_<version>.py
               ├─────────▶ stub_code       src/listwatch/models/<group>_<version>.pyi, with descriptions
               └─────────▶ tables          src/listwatch/models/table.py, src/listwatch/server/schema/schema_data.py
"""
