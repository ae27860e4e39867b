# Converts documents to PDF in an office suite that keeps running. Reads one path per line and writes milliseconds per line.
import os
import subprocess
import sys
import tempfile
import time

import uno
from com.sun.star.beans import PropertyValue

program, out = sys.argv[1:3]
profile = tempfile.mkdtemp(prefix="uno-")
pipe = "bench%d" % os.getpid()
suite = subprocess.Popen(
    [program, "--headless", "--norestore", "--nologo", "-env:UserInstallation=file://" + profile,
     "--accept=pipe,name=%s;urp;StarOffice.ServiceManager" % pipe],
    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def connect():
    local = uno.getComponentContext()
    resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
    for _ in range(300):
        try:
            return resolver.resolve("uno:pipe,name=%s;urp;StarOffice.ComponentContext" % pipe)
        except Exception:
            time.sleep(0.1)
    raise SystemExit("the office suite did not start")


def value(name, content):
    return PropertyValue(Name=name, Value=content)


FILTERS = {
    "com.sun.star.sheet.SpreadsheetDocument": "calc_pdf_Export",
    "com.sun.star.presentation.PresentationDocument": "impress_pdf_Export",
    "com.sun.star.text.TextDocument": "writer_pdf_Export",
}


def convert(desktop, path):
    document = desktop.loadComponentFromURL(uno.systemPathToFileUrl(path), "_blank", 0, (value("Hidden", True),))
    try:
        name = next(name for service, name in FILTERS.items() if document.supportsService(service))
        document.storeToURL(uno.systemPathToFileUrl(out), (value("FilterName", name),))
    finally:
        document.close(True)


try:
    context = connect()
    desktop = context.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", context)
    print("ready", flush=True)
    for line in sys.stdin:
        started = time.perf_counter()
        try:
            convert(desktop, line.rstrip("\n"))
            print((time.perf_counter() - started) * 1000, flush=True)
        except Exception as error:
            print("failed", str(error).replace("\n", " ")[:200], flush=True)
finally:
    os.killpg(suite.pid, 9)
    suite.wait()
    subprocess.call(["rm", "-rf", profile])
