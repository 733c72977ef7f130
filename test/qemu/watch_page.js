// Uses watchd's page in a browser, and prints a line for each check: "ok" or "bad", and what.
//   node watch_page.js URL TOKEN [DIR]     DIR: pictures of all views go there
"use strict";
const {chromium} = require("playwright-core");
const [url, token, dir] = process.argv.slice(2);
const VIEWS = ["overview", "sharing", "cycles", "threads", "memory", "events", "network", "knobs"];
const errors = [];
const check = (good, what) => console.log(good ? "ok" : "bad", what);

async function open(browser, scheme, width = 1600, height = 1000) {
  const page = await (await browser.newContext({viewport: {width, height}, colorScheme: scheme})).newPage();
  page.on("pageerror", (e) => errors.push(e.message));
  page.on("request", (r) => { if (!r.url().startsWith(url) && !r.url().startsWith("data:")) errors.push("asked " + r.url()); });
  await page.goto(url);
  await page.waitForFunction(() => document.querySelector("#verdict .group"), null, {timeout: 60000});
  return page;
}

async function views(page, scheme) {
  const shown = [];
  for (let v = 0; v < VIEWS.length; v++) {
    await page.keyboard.press(String(v + 1));
    await page.waitForTimeout(400);
    shown.push(await page.locator("main section").count());
    if (dir) await page.screenshot({path: `${dir}/${scheme}-${v + 1}-${VIEWS[v]}.png`});
  }
  check(shown.every((n) => n > 0), `${scheme}: keys show ${VIEWS.length} views (sections: ${shown})`);
}

// Says what is wider than its place in a view: nothing but what scrolls may be.
async function cut(page) {
  const found = [];
  for (let v = 0; v < VIEWS.length; v++) {
    await page.keyboard.press(String(v + 1));
    await page.waitForTimeout(400);
    found.push(...await page.evaluate((view) => [...document.querySelectorAll("main section:not(.scroll), .log")]
      .filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => `${view}: ${e.textContent.slice(0, 20)}`), VIEWS[v]));
    found.push(...await page.evaluate((view) => [...document.querySelectorAll("main section:not(.scroll) table, .legend span")]
      .filter((e) => e.getBoundingClientRect().right > e.closest("section").getBoundingClientRect().right + 1)
      .map((e) => `${view}: ${e.textContent.slice(0, 20)}`), VIEWS[v]));
  }
  return found;
}

// Returns whether a canvas has been drawn on: pixels of more than two colours.
const drawn = (page, selector) => page.evaluate((s) => {
  const c = document.querySelector(s);
  if (!c || !c.width) return false;
  const d = new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer);
  return new Set(d.filter((x, i) => i % 97 === 0)).size > 2;
}, selector);

async function knobs(page) {
  await page.keyboard.press("8");
  await page.waitForSelector("text=sched.remote_pct");
  check(await page.locator('button:has-text("set")').first().isDisabled(), "without a token knobs are fixed");
  await page.fill('input[aria-label="token"]', token);
  await page.keyboard.press("Tab");
  const input = 'input[aria-label="sched.remote_pct"]';
  await page.fill(input, "9");
  await page.press(input, "Enter");
  await page.waitForSelector(".said.ok", {timeout: 60000});
  check(await page.inputValue(input) === "9", "a knob is turned");
  await page.fill(input, "900");
  await page.press(input, "Enter");
  await page.waitForSelector(".said:not(.ok)");
  check((await page.textContent(".said:not(.ok)")).includes("sched.remote_pct"), "a refused value is explained");
  await page.fill('input[aria-label="token"]', "wrong-token-wrong");
  await page.keyboard.press("Tab");
  await page.fill(input, "8");
  await page.press(input, "Enter");
  await page.waitForSelector('.said:not(.ok):has-text("X-Vigil-Token")', {timeout: 60000});
  check(await page.inputValue(input) !== "8", "a wrong token turns nothing");
}

(async () => {
  const browser = await chromium.launch({executablePath: "/usr/bin/chromium", args: ["--no-sandbox"]});
  const dark = await open(browser, "dark");
  const text = await dark.textContent("#verdict");
  check(/groups? of threads share cache lines/.test(text), `the first sentence says who shares: ${text}`);
  check(await drawn(dark, "#view canvas.map"), "the shMap is drawn");
  check(await drawn(dark, "#view .uplot canvas"), "cycles are drawn");
  check(await dark.locator(".chip").count() === 2 && await dark.locator(".thread").count() > 16, "threads are on the chips");
  await views(dark, "dark");
  await dark.keyboard.press("7");
  check((await dark.textContent("main")).includes("TIME_WAIT") && await dark.locator("main tr").count() > 12, "the network has its figures");
  const light = await open(browser, "light");
  check(await light.evaluate(() => document.documentElement.classList.contains("light")), "light is light");
  await views(light, "light");
  await light.keyboard.press("d");
  check(!await light.evaluate(() => document.documentElement.classList.contains("light")), "d makes it dark");
  await light.keyboard.press(" ");
  check(await light.textContent("#link") === "paused", "space pauses");
  await knobs(dark);
  for (const [w, h] of [[1280, 800], [1920, 1080]]) {
    const page = await open(browser, "dark", w, h), found = await cut(page);
    check(!found.length, `${w} by ${h}: nothing is cut off ${found}`);
    await page.keyboard.press("2");
    check((await page.textContent("main")).includes("settled"), `${w} by ${h}: decisions from before the page was opened are there`);
    await page.evaluate(() => { state.online = "lost"; drawVerdict(); });
    check((await page.textContent("#stale:not([hidden])")).includes("does not answer"), `${w} by ${h}: it says when figures are old`);
    await page.close();
  }
  await dark.reload();
  await dark.waitForFunction(() => document.querySelector("#verdict .group"), null, {timeout: 60000});
  check(await dark.textContent("#link") === "live", "after a reload it goes on");
  check(!errors.length, `nothing failed, and nothing came from elsewhere ${errors.slice(0, 3)}`);
  await browser.close();
})().catch((e) => { console.log("bad", String(e).split("\n")[0]); process.exit(1); });
