// The entry of the worker thread that renders one page (WEB-16).
import { parentPort, workerData } from 'node:worker_threads';
import { renderHtml, type HtmlPage } from './render-html.ts';

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of Node has no origin
parentPort?.postMessage(renderHtml(workerData as HtmlPage));
