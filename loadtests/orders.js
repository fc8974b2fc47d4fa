// Sends orders with unique ids, for a time or so many; loadtests/run and loadtests/audited start the host and count what arrived at the far end.
import exec from 'k6/execution';
import http from 'k6/http';
import { check } from 'k6';
import { Counter } from 'k6/metrics';

const { TARGET, RUN, RESULT, VUS = '20', DURATION = '15', ORDERS } = __ENV;
const accepted = new Counter('accepted');

export const options = {
  vus: Number(VUS),
  duration: `${DURATION}s`,
  ...(ORDERS ? { iterations: Number(ORDERS) } : {}),
  summaryTrendStats: ['med', 'p(95)', 'max'],
  thresholds: {
    http_req_failed: ['rate==0'],
    ...(ORDERS ? {} : { http_req_duration: ['p(95)<500'] }),
    checks: ['rate==1'],
    accepted: ['count>0'],
  },
};

export default function () {
  const order = `<order id="${RUN}-${exec.scenario.iterationInTest}"><customer>Customer ${__VU}</customer>`
    + '<line sku="TEA-1" quantity="2"/><line sku="CUP-7" quantity="1"/><total>24.90</total></order>';

  const response = http.post(TARGET, order, { headers: { 'Content-Type': 'application/xml' } });

  if (response.status === 202) accepted.add(1);
  check(response, {
    'the order is accepted': (r) => r.status === 202,
    'the answer names the message': (r) => r.status === 202 && r.json('messageId') === r.headers['Esb-Message-Id'],
  });
}

// loadtests/run reads the file: one number per line.
export function handleSummary({ metrics }) {
  const value = (metric, name) => (metrics[metric] ? metrics[metric].values[name] : 0);
  const broken = Object.entries(metrics).flatMap(([metric, { thresholds = {} }]) =>
    Object.entries(thresholds).filter(([, { ok }]) => !ok).map(([rule]) => `broken threshold: ${metric} ${rule}\n`));
  const summary = {
    requests: value('http_reqs', 'count'),
    requestsPerSecond: Math.round(value('http_reqs', 'rate')),
    failedRequests: value('http_req_failed', 'passes'),
    p50Milliseconds: Number(value('http_req_duration', 'med').toFixed(2)),
    p95Milliseconds: Number(value('http_req_duration', 'p(95)').toFixed(2)),
    accepted: value('accepted', 'count'),
  };
  return { [RESULT]: `${JSON.stringify(summary, null, 2)}\n`, stdout: broken.join('') };
}
