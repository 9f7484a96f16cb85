"""Headless Chromium, driven over a pipe by its DevTools protocol; needs nothing but Python and Debian's `chromium`.

    with Browser() as browser:
        browser.open("file:///tmp/report.html", width=1200, dark=True)
        browser.evaluate("document.title")
        browser.screenshot("report.png")
"""
import base64
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def find_browser():
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


class Browser:
    def __init__(self, program=None):
        self.home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        down, self.commands = os.pipe()
        self.answers, up = os.pipe()

        def as_3_and_4():  # the file descriptors that Chromium expects
            os.dup2(os.dup(down), 3)
            os.dup2(os.dup(up), 4)

        self.process = subprocess.Popen(
            [program or find_browser(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--remote-debugging-pipe", "--force-color-profile=srgb", "--hide-scrollbars", f"--user-data-dir={self.home.name}", "about:blank"],
            preexec_fn=as_3_and_4, close_fds=False, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(down)
        os.close(up)
        self.buffer, self.number = b"", 0
        self.requests, self.complaints = [], []  # requested addresses; errors of the page
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = None
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    session = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)
        try:
            os.killpg(self.process.pid, signal.SIGKILL)  # the whole group: Chromium's helpers still write to its home
        except ProcessLookupError:
            pass
        self.home.cleanup()

    def receive(self, seconds=30):
        end = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.answers], [], [], max(0, end - time.monotonic()))
            part = os.read(self.answers, 1 << 16) if ready else b""
            if not part:
                raise RuntimeError("the browser does not answer")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def note(self, event):
        what, of = event.get("method"), event.get("params", {})
        if what == "Network.requestWillBeSent":
            self.requests.append(of["request"]["url"])
        elif what == "Runtime.exceptionThrown":
            details = of["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif what == "Runtime.consoleAPICalled" and of["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(a.get("value", a.get("description"))) for a in of["args"]))
        elif what == "Log.entryAdded" and of["entry"]["level"] in ("error", "warning"):
            self.complaints.append(of["entry"]["text"])
        return what

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.note(answer)

    def open(self, url, width=1200, height=900, dark=False):
        """Opens a page and waits until it is loaded and has had half a second to draw."""
        self.requests.clear()
        self.complaints.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url=url)
        while self.note(self.receive()) != "Page.loadEventFired":
            pass
        self.evaluate("new Promise((done) => setTimeout(done, 500))")

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def mouse(self, kind, x, y, clicks=1):
        """kind: mouseMoved, mousePressed or mouseReleased, in CSS pixels of the window."""
        button = {} if kind == "mouseMoved" else {"button": "left", "clickCount": clicks}
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **button)

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, **({"text": key} if len(key) == 1 and kind == "keyDown" else {}))

    def screenshot(self, path, selector=None, window=False):
        """The whole page, the part that a CSS selector names, or what is in the window."""
        if window:
            shot = self.call("Page.captureScreenshot", format="png")
            pathlib.Path(path).write_bytes(base64.b64decode(shot["data"]))
            return
        box = self.evaluate(
            "(() => { const e = %s, r = e.getBoundingClientRect();"
            " return {x: r.x + scrollX, y: r.y + scrollY, width: r.width, height: r.height}; })()"
            % (f"document.querySelector({json.dumps(selector)})" if selector else "document.documentElement"))
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip={**box, "scale": 1})
        pathlib.Path(path).write_bytes(base64.b64decode(shot["data"]))
