"""The blocking event recorder."""

from listwatch import blocking
from listwatch.models.core_v1 import Pod
from listwatch.testing.api_server_thread import APIServerThread

POD = Pod.from_dict({"metadata": {"name": "web", "namespace": "default"}})


def test_events_are_written_in_the_background():
    with APIServerThread() as server, blocking.ClientSet(server.config) as client:
        with blocking.EventRecorder(client.core_v1.events(), component="tests") as recorder:
            recorder.event(POD, "Normal", "Pulled", "the image is there")
            recorder.flush()
            [event] = client.core_v1.events("default").list()
            assert (event.reason, event.count) == ("Pulled", 1)
            recorder.event(POD, "Normal", "Pulled", "the image is there")
        [event] = client.core_v1.events("default").list()
        assert event.count == 2
        assert recorder.statistics().patched == 1
