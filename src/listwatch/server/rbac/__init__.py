"""Role-based access control: roles and bindings decide what users may do."""
