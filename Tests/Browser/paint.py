"""Measures for scripts/paint, on a slow line, when each page shows its largest content, and how far content moves."""

from test_looks import FAST_LINE, SLOW_LINE, visit_every_page_of_the_service

REPEATS = 5

PAINT = """
    const done = arguments[0];
    let shift = 0;
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) shift += entry.value; })
      .observe({ type: "layout-shift", buffered: true });
    new PerformanceObserver((list) => {
      const largest = list.getEntries().at(-1);
      setTimeout(() => done([largest.startTime, shift]), 300);
    }).observe({ type: "largest-contentful-paint", buffered: true });
"""


def test_paint(person):
    kim = person()
    run = kim.browser.execute_cdp_cmd
    run("Network.setCacheDisabled", {"cacheDisabled": True})
    try:
        for page in visit_every_page_of_the_service(kim):
            run("Network.emulateNetworkConditions", SLOW_LINE)
            figures = []
            for _ in range(REPEATS):
                kim.browser.refresh()
                figures.append(kim.browser.execute_async_script(PAINT))
            run("Network.emulateNetworkConditions", FAST_LINE)
            times = sorted(time for time, _ in figures)
            worst = max(shift for _, shift in figures)
            print(
                f"{page:10} largest content after {times[REPEATS // 2]:4.0f} ms (at most {times[-1]:.0f}), shift {worst:.4f}"
            )
            assert times[-1] <= 1000 and worst == 0, page
    finally:
        run("Network.setCacheDisabled", {"cacheDisabled": False})
