// Takes pictures of each view of watchd's page:  node watch_shoot.js URL DIR PREFIX [dark|light]
"use strict";
const {chromium} = require("playwright-core");
(async () => {
  const [url, dir, prefix, scheme] = process.argv.slice(2);
  const browser = await chromium.launch({executablePath: "/usr/bin/chromium", args: ["--no-sandbox"]});
  const page = await browser.newPage({viewport: {width: 1600, height: 1000}, colorScheme: scheme || "dark"});
  const errors = [];
  page.on("pageerror", (e) => errors.push(e.message));
  page.on("console", (m) => { if (m.type() === "error") errors.push(m.text()); });
  page.on("request", (r) => { if (!r.url().startsWith(url)) errors.push("asked for " + r.url()); });
  await page.goto(url);
  await page.waitForTimeout(2500);
  for (let v = 1; v <= 7; v++) {
    await page.keyboard.press(String(v));
    await page.waitForTimeout(700);
    await page.screenshot({path: `${dir}/${prefix}-${v}.png`});
  }
  await browser.close();
  errors.forEach((e) => console.log("error:", e));
})();
