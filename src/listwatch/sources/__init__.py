"""Sources for informers, besides resource clients: functions, a REST client, and etcd."""
