"""Objects of all kinds in many states, whose tables are compared."""

from tests.real.tables.access_samples import ACCESS, SCHEDULING
from tests.real.tables.configuration_samples import CONFIGURATION
from tests.real.tables.network_samples import NETWORKING
from tests.real.tables.pod_samples import PODS
from tests.real.tables.storage_samples import STORAGE
from tests.real.tables.workload_samples import WORKLOADS

SAMPLES = [*PODS, *WORKLOADS, *CONFIGURATION, *NETWORKING, *STORAGE, *ACCESS, *SCHEDULING]
