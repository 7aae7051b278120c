"""Ctrl-C ends a blocking call whichever thread receives the signal."""

import subprocess
import sys

PROGRAM = """
import signal, socket, threading
import listwatch as lw
from listwatch import blocking

silent = socket.create_server(("127.0.0.1", 0))


def interrupt():
    silent.accept()  # the request was sent, and gets no response
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)
    threading.Event().wait()


threading.Thread(target=interrupt, daemon=True).start()
with blocking.ClientSet(lw.ClientConfig(host=f"http://127.0.0.1:{silent.getsockname()[1]}")) as client:
    try:
        client.core_v1.pods("default").get("web")
    except KeyboardInterrupt:
        print("interrupted")
"""


def test_ctrl_c_ends_a_call_even_if_another_thread_receives_the_signal():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "interrupted\n", done.stderr
