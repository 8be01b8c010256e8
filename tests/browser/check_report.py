"""Opens a page in headless Chromium, clicks through it, and complains about anything that is wrong.

    python tests/browser/check_report.py REPORT.html SCREENSHOT_DIR

Needs selenium (PyPI) and Debian's chromium and chromium-driver. Exits with 0 when the page is fine,
1 when it is not (one line a problem), 2 on wrong usage. Screenshots are left to be looked at.
"""

import base64
import json
import re
import shutil
import sys
import time
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

QUIET = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         "--hide-scrollbars", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--force-color-profile=srgb"]
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}


def look_at_source(text):
    """What can be said without a browser."""
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    if not policy:
        yield "there is no Content-Security-Policy"
    elif "default-src 'none'" not in policy[1]:
        yield f"the policy lets the page load things: {policy[1]}"
    for attribute in re.findall(r'\b(?:src|href|srcset|action|poster)\s*=\s*"([^"]*)"', text):
        if not attribute.startswith(("data:", "#")):
            yield f"the page refers to {attribute[:80]!r}"
    if re.search(r"url\(\s*['\"]?(?!data:|#)", text):
        yield "a style refers to another file"
    for word in ("NaN", "undefined", "Infinity%"):
        if re.search(rf'(?<![\w"]){word}(?!\w)', text.split("<script>")[0].split("</style>")[-1]):
            yield f"the page says {word}"


def browser():
    options = webdriver.ChromeOptions()
    for argument in QUIET:
        options.add_argument(argument)
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found:
        options.binary_location = found
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = shutil.which("chromedriver")
    return webdriver.Chrome(options=options, service=Service(driver) if driver else None)


def resize(driver, width, height):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                           {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})


def prefer(driver, scheme):
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                           {"features": [{"name": "prefers-color-scheme", "value": scheme}]})


def picture(driver, path):
    """The whole page, not only what fits the window."""
    size = driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
    clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 12000), "scale": 1}
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
    path.write_bytes(base64.b64decode(shot["data"]))


def background(driver):
    return driver.execute_script("return getComputedStyle(document.body).backgroundColor")


def click_through(driver, shots, name):
    broken = driver.execute_script("return [...document.images].filter(i => !i.complete || !i.naturalWidth).length")
    if broken:
        yield f"{broken} pictures are broken"

    for label, (width, height) in SIZES.items():
        resize(driver, width, height)
        for scheme in ("light", "dark"):
            prefer(driver, scheme)
            time.sleep(0.1)
            picture(driver, shots / f"{name}-{label}-{scheme}.png")
        wide = driver.execute_script("return document.documentElement.scrollWidth - innerWidth")
        if wide > 0:
            yield f"on a {label} the page is {wide} pixels wider than the window"
    prefer(driver, "light")
    resize(driver, *SIZES["desktop"])

    # The contents lead somewhere.
    for link in driver.find_elements(By.CSS_SELECTOR, "a[href^='#']"):
        target = link.get_attribute("href").split("#", 1)[1]
        if not driver.execute_script("return !!document.getElementById(arguments[0])", target):
            yield f"the link #{target} leads nowhere"

    before = background(driver)
    toggle = driver.find_element(By.ID, "theme")
    toggle.click()
    if background(driver) == before:
        yield "the theme button changes nothing"
    toggle.click()
    if background(driver) != before:
        yield "the theme button does not change back"

    tip = driver.find_element(By.ID, "tip")
    for chart in driver.find_elements(By.CSS_SELECTOR, "svg.lines"):
        driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", chart)
        label = chart.get_attribute("aria-label")
        if chart.find_elements(By.CSS_SELECTOR, ".line.none"):
            continue
        if not chart.find_elements(By.CSS_SELECTOR, ".series"):
            yield f"the chart {label!r} is empty"
            continue
        ActionChains(driver).move_to_element(chart).perform()
        if not tip.is_displayed() or not re.search(r"\d", tip.text):
            yield f"no value appears over the chart {label!r}"
        driver.execute_script("arguments[0].focus()", chart)
        chart.send_keys(Keys.HOME)
        first = tip.text
        chart.send_keys(Keys.END)
        last = tip.text
        several = len(chart.find_element(By.CSS_SELECTOR, ".series").get_attribute("data-xs").split()) > 1
        if several and first == last:
            yield f"the arrow keys do not move along the chart {label!r}"
    for column in driver.find_elements(By.CSS_SELECTOR, "rect.column")[:3]:
        driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", column)
        ActionChains(driver).move_to_element(column).perform()

    spectrum = driver.find_elements(By.CSS_SELECTOR, "#pixel figcaption")
    for map_ in driver.find_elements(By.CSS_SELECTOR, "img[data-step]"):
        driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", map_)
        ActionChains(driver).move_to_element(map_).perform()
        middle = spectrum[0].get_attribute("textContent") if spectrum else ""
        if not tip.is_displayed() or "row" not in tip.text:
            yield "nothing appears over a map"
        ActionChains(driver).move_to_element_with_offset(map_, -map_.size["width"] // 3, -map_.size["height"] // 3).perform()
        if spectrum and (spectrum[0].get_attribute("textContent") == middle or not driver.find_elements(By.CSS_SELECTOR, "#pixel .own")):
            yield "over a map the spectrum does not follow the pointer"

    for cloud in driver.find_elements(By.CSS_SELECTOR, "svg.cloud"):
        driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", cloud)
        group = cloud.find_element(By.CSS_SELECTOR, ".dots")
        x, y = map(float, re.match(r"M([\d.-]+) ([\d.-]+)", group.find_element(By.TAG_NAME, "path").get_attribute("d")).groups())
        width, height = driver.execute_script("const v = arguments[0].viewBox.baseVal; return [v.width, v.height]", cloud)
        scale = cloud.rect["width"] / width
        point = ActionChains(driver).move_to_element_with_offset(cloud, (x - width / 2) * scale, (y - height / 2) * scale)
        point.perform()
        names = [name for g in cloud.find_elements(By.CSS_SELECTOR, ".dots") for name in g.get_attribute("data-points").split("\n")]
        if not tip.is_displayed() or tip.text.split("\n")[0] not in names:
            yield "no name appears over a point"
        if not driver.find_elements(By.CSS_SELECTOR, ".dots.dim") and len(cloud.find_elements(By.CSS_SELECTOR, ".dots")) > 1:
            yield "a point does not bring out its cluster"
        before = driver.execute_script("return scrollY")
        point.click().perform()
        time.sleep(1)
        if driver.execute_script("return scrollY") == before:
            yield "a click on a point leads nowhere"

    for select in driver.find_elements(By.ID, "run"):
        choices = [o.get_attribute("value") for o in select.find_elements(By.TAG_NAME, "option")]
        if len(choices) > 1:
            driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", select)
            select.send_keys(Keys.DOWN)
            driver.execute_script(
                "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change'))",
                select, choices[1])
            if not driver.find_elements(By.CSS_SELECTOR, ".series.shown"):
                yield "choosing a run shows nothing"
            picture(driver, shots / f"{name}-run.png")
    for details in driver.find_elements(By.CSS_SELECTOR, "details:not([open]) > summary"):
        driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", details)
        details.click()

    pdf = driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": False, "paperWidth": 8.27, "paperHeight": 11.69})
    (shots / f"{name}.pdf").write_bytes(base64.b64decode(pdf["data"]))


def complaints(driver, address):
    """What the console said, and what left the page."""
    for entry in driver.get_log("browser"):
        yield f"console: {entry['level']}: {entry['message'][:300]}"
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url = message["params"]["request"]["url"]
            if url != address and not url.startswith(("data:", "about:", "devtools:", "chrome:")) \
                    and not url.startswith(address + "#"):
                yield f"a request left the page: {url[:200]}"


def main(arguments):
    if len(arguments) != 2 or not Path(arguments[0]).is_file():
        print(__doc__, file=sys.stderr)
        return 2
    page, shots = Path(arguments[0]).resolve(), Path(arguments[1])
    shots.mkdir(parents=True, exist_ok=True)
    problems = list(look_at_source(page.read_text(encoding="utf-8")))
    driver = browser()
    try:
        driver.get(page.as_uri())
        problems += click_through(driver, shots, page.stem)
        problems += complaints(driver, page.as_uri())
    finally:
        driver.quit()
    for problem in problems:
        print(f"{page.name}: {problem}")
    if not problems:
        print(f"{page.name}: fine")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
