// SPDX-License-Identifier: Apache-2.0
// Fetches a page with Node's own TLS and says in JSON what it knows of the key exchange: client.mjs URL CERTIFICATE.
import fs from "node:fs";
import https from "node:https";

const [url, certificate] = process.argv.slice(2);
https.get(url, { ca: fs.readFileSync(certificate), agent: false }, (response) => {
  const { name, type } = response.socket.getEphemeralKeyInfo();
  let page = "";
  response.on("data", (data) => (page += data));
  response.on("end", () => console.log(JSON.stringify({ group: name ?? type ?? "", page, version: process.version })));
}).on("error", (error) => {
  console.error(error.message);
  process.exit(1);
});
